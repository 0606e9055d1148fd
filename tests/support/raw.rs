//! Kafka's wire, by hand: a group member that says exactly what it is told to, and a broker that only listens.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// Bytes of a request or response body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(pub Vec<u8>);

impl Body {
    pub fn i16(mut self, value: i16) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn i32(mut self, value: i32) -> Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn string(self, value: &str) -> Self {
        self.name(value.as_bytes())
    }

    /// A string that need not be text.
    pub fn name(mut self, value: &[u8]) -> Self {
        self = self.i16(i16::try_from(value.len()).unwrap());
        self.0.extend(value);
        self
    }

    pub fn bytes(self, value: Option<&[u8]>) -> Self {
        let Some(value) = value else {
            return self.i32(-1);
        };
        let mut body = self.i32(i32::try_from(value.len()).unwrap());
        body.0.extend(value);
        body
    }

    pub fn array<T>(self, items: &[T], one: impl FnMut(Self, &T) -> Self) -> Self {
        let body = self.i32(i32::try_from(items.len()).unwrap());
        items.iter().fold(body, one)
    }
}

/// A body on its way in.
pub struct Reader<'a>(pub &'a [u8]);

impl Reader<'_> {
    fn take(&mut self, len: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        taken.to_vec()
    }

    pub fn i16(&mut self) -> i16 {
        i16::from_be_bytes(self.take(2).try_into().unwrap())
    }

    pub fn i32(&mut self) -> i32 {
        i32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    pub fn string(&mut self) -> String {
        let len = usize::try_from(self.i16()).unwrap_or_default();
        String::from_utf8(self.take(len)).unwrap()
    }

    pub fn bytes(&mut self) -> Vec<u8> {
        let len = usize::try_from(self.i32()).unwrap_or_default();
        self.take(len)
    }

    pub fn array<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.i32()).map(|_| one(self)).collect()
    }
}

/// A member of group `group` that speaks for itself.
pub struct RawMember {
    stream: TcpStream,
    id: String,
    generation: i32,
}

/// What a join answers.
#[derive(Debug)]
pub struct Joined {
    pub leader: bool,
    /// Metadata by member id, for the leader.
    pub members: Vec<(String, Vec<u8>)>,
}

impl RawMember {
    pub fn new(servers: &str) -> Self {
        let stream = TcpStream::connect(servers).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        RawMember {
            stream,
            id: String::new(),
            generation: -1,
        }
    }

    /// Sends a join; the answer comes when the group forms.
    pub fn send_join(&mut self, protocol: &str, metadata: &[u8]) {
        let body = Body::default()
            .string("group")
            .i32(30_000)
            .string(&self.id)
            .string("consumer");
        let body = body.array(&[()], |body, ()| {
            body.string(protocol).bytes(Some(metadata))
        });
        send(&mut self.stream, 11, &body);
    }

    pub fn joined(&mut self) -> Joined {
        let answer = receive(&mut self.stream).unwrap();
        let mut reader = Reader(&answer[4..]);
        assert_eq!(reader.i16(), 0, "the join failed");
        self.generation = reader.i32();
        let (_protocol, leader) = (reader.string(), reader.string());
        self.id = reader.string();
        let members = reader.array(|reader| (reader.string(), reader.bytes()));
        Joined {
            leader: leader == self.id,
            members,
        }
    }

    /// Sends assignments by member id, none as a follower; the bytes of the own one.
    pub fn sync(&mut self, assignments: &[(String, Vec<u8>)]) -> Vec<u8> {
        let body = Body::default()
            .string("group")
            .i32(self.generation)
            .string(&self.id);
        let body = body.array(assignments, |body, (member, bytes)| {
            body.string(member).bytes(Some(bytes))
        });
        send(&mut self.stream, 14, &body);
        let answer = receive(&mut self.stream).unwrap();
        let mut reader = Reader(&answer[4..]);
        assert_eq!(reader.i16(), 0, "the sync failed");
        reader.bytes()
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn generation(&self) -> i32 {
        self.generation
    }

    pub fn leave(mut self) {
        send(
            &mut self.stream,
            13,
            &Body::default().string("group").string(&self.id),
        );
        receive(&mut self.stream).unwrap();
    }
}

/// Strategies of a join: names and metadata.
pub type Strategies = Vec<(String, Vec<u8>)>;

/// Starts a broker with topic `t` of one partition, and what joins say to it. It answers each by making the member the
/// leader of a group of one, with `metadata` for its subscription.
pub fn broker_of_version_0(metadata: &'static [u8]) -> (String, Receiver<Strategies>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (joins, receiver) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, joins) = (stream.unwrap(), joins.clone());
            thread::spawn(move || serve(stream, i32::from(port), metadata, &joins));
        }
    });
    (format!("127.0.0.1:{port}"), receiver)
}

fn serve(mut stream: TcpStream, port: i32, metadata: &[u8], joins: &Sender<Strategies>) {
    while let Some(request) = receive(&mut stream) {
        let mut reader = Reader(&request);
        let (api, version, correlation) = (reader.i16(), reader.i16(), reader.i32());
        assert_eq!(version, 0, "the member was told to be old");
        let _client_id = reader.string();
        let here = |body: Body| body.i32(1).string("127.0.0.1").i32(port);
        let answer = Body::default().i32(correlation);
        let answer = match api {
            3 => metadata_of_t(answer.array(&[()], |body, ()| here(body))),
            10 => here(answer.i16(0)),
            11 => {
                let _head = (
                    reader.string(),
                    reader.i32(),
                    reader.string(),
                    reader.string(),
                );
                let strategies = reader.array(|reader| (reader.string(), reader.bytes()));
                let answer = answer
                    .i16(0)
                    .i32(1)
                    .string(&strategies[0].0)
                    .string("m")
                    .string("m");
                joins.send(strategies).unwrap();
                answer.array(&[()], |body, ()| body.string("m").bytes(Some(metadata)))
            }
            _ => continue,
        };
        stream
            .write_all(&Body::default().bytes(Some(&answer.0)).0)
            .unwrap();
    }
}

/// And a topic with a long name: librdkafka sets aside too little memory for so short an answer.
fn metadata_of_t(body: Body) -> Body {
    let partition = |body: Body| body.i16(0).i32(0).i32(1).i32(0).i32(0);
    let long = "x".repeat(200);
    body.array(&["t", &long], |body, topic| {
        body.i16(0)
            .string(topic)
            .array(&[()], |body, ()| partition(body))
    })
}

fn send(stream: &mut TcpStream, api: i16, body: &Body) {
    let header = Body::default().i16(api).i16(0).i32(7).string("raw");
    let request = [header.0, body.0.clone()].concat();
    stream
        .write_all(&Body::default().bytes(Some(&request)).0)
        .unwrap();
}

/// A request or a response without its length; `None` at the end of the stream.
fn receive(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut len = [0; 4];
    stream.read_exact(&mut len).ok()?;
    let mut message = vec![0; usize::try_from(i32::from_be_bytes(len)).unwrap()];
    stream.read_exact(&mut message).ok()?;
    Some(message)
}
