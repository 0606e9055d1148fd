/*
 * The flat side of librdkafka's private assignor interface.
 *
 * Everything in here is mirrored, field by field, in ffi.rs; sizes are asserted on both sides.
 * Pointers handed to a callback are valid until it returns and never written to by it.
 */
#ifndef RDKAFKA_ASSIGNOR_SHIM_H
#define RDKAFKA_ASSIGNOR_SHIM_H

#include <stddef.h>
#include <stdint.h>

/* Opaque here as well: only shim_int.h sees librdkafka's structs. */
struct rd_kafka_s;
typedef struct shim_client shim_client;
typedef struct shim_answer shim_answer;
typedef struct shim_metadata shim_metadata;

/* Counted bytes; `data` is NULL for Kafka's null. */
typedef struct shim_bytes {
        const uint8_t *data;
        size_t len;
} shim_bytes;

typedef struct shim_partition {
        const char *topic; /* NUL-terminated */
        int32_t partition;
        int32_t reserved;
} shim_partition;

/* `items` is NULL if the list was absent, as the owned list of metadata version 0. */
typedef struct shim_partitions {
        const shim_partition *items;
        size_t len;
} shim_partitions;

typedef struct shim_names {
        const char *const *items; /* NUL-terminated each */
        size_t len;
} shim_names;

typedef struct shim_topic {
        const char *name;        /* NUL-terminated */
        const shim_names *racks; /* one per partition, or NULL */
        int32_t partition_cnt;
        int32_t reserved;
} shim_topic;

typedef struct shim_member {
        shim_bytes id;
        shim_bytes instance;
        shim_bytes rack;
        shim_bytes user_data;
        shim_partitions subscription;
        shim_partitions owned;
        int32_t generation; /* -1: not said */
        int32_t reserved;
} shim_member;

typedef struct shim_group {
        const char *id;     /* NUL-terminated */
        const char *leader; /* NUL-terminated */
        const shim_topic *topics;
        size_t topic_cnt;
        const shim_member *members;
        size_t member_cnt;
        int32_t generation;
        int32_t reserved;
} shim_group;

typedef struct shim_join {
        shim_names topics;
        shim_partitions owned;
        int32_t generation; /* -1: none yet */
        int32_t reserved;
} shim_join;

typedef struct shim_assigned {
        const char *member; /* NUL-terminated */
        shim_partitions partitions;
        shim_bytes user_data;
        int32_t generation;
        int32_t reserved;
} shim_assigned;

/* What the shim calls; none of them unwinds. The first argument is the opaque of the assignor or of the client. */
typedef struct shim_callbacks {
        /* Leader; 0 or an error, explained in `errstr` (NUL-terminated). */
        int (*assign)(void *assignor,
                      const shim_group *group,
                      shim_answer *answer,
                      char *errstr,
                      size_t errstr_size);
        void (*subscription_user_data)(void *assignor,
                                       const shim_join *join,
                                       shim_metadata *metadata);
        void (*on_assignment)(void *assignor, const shim_assigned *assigned);
        /* What this assignor gave last does not hold any more. */
        void (*on_superseded)(void *assignor);
        void (*on_revoked)(void *client,
                           const shim_partitions *partitions,
                           int lost);
        /* Nothing will be called any more; `client` is free to go. */
        void (*closed)(void *client);
} shim_callbacks;

enum {
        SHIM_OK            = 0,
        SHIM_NO_GROUP      = 1,
        SHIM_CONSUMER_TYPE = 2, /* group.protocol=consumer */
        SHIM_NAME_TAKEN    = 3,
        SHIM_REFUSED       = 4, /* librdkafka refused */
};

/* RD_KAFKA_VERSION of the headers that the shim was compiled against. */
int rdkafka_assignor_built_version(void);

/*
 * Ties `opaque` to the life of the handle. After SHIM_OK `callbacks->closed` will be called exactly once; after
 * anything else never. To be called before `subscribe`, like the next three.
 */
int rdkafka_assignor_attach(struct rd_kafka_s *rk,
                            const shim_callbacks *callbacks,
                            void *opaque,
                            shim_client **clientp);
/* Adds an assignor; it is of no consequence before `rdkafka_assignor_order`. */
int rdkafka_assignor_add(shim_client *client,
                         const char *name,
                         int cooperative,
                         void *opaque);
/* Makes exactly `names` the strategy list. SHIM_REFUSED, and no change, if one is not known. */
int rdkafka_assignor_order(shim_client *client, shim_names names);
/* Has `on_revoked` called, and `on_superseded` for a member that is none any more. */
void rdkafka_assignor_watch(shim_client *client);

/* To be called from `assign`: partitions of one topic for one member of `group->members`. */
void rdkafka_assignor_give(shim_answer *answer,
                           size_t member,
                           const char *topic,
                           const int32_t *partitions,
                           size_t partition_cnt);
/* To be called from `assign`: user data for one member; the last call counts. */
void rdkafka_assignor_give_user_data(shim_answer *answer,
                                     size_t member,
                                     const uint8_t *data,
                                     size_t len);
/* To be called from `subscription_user_data`, at most once. */
void rdkafka_assignor_put_user_data(shim_metadata *metadata,
                                    const uint8_t *data,
                                    size_t len);

/* Any thread, until `closed` returns. */
int rdkafka_assignor_lost(shim_client *client);
void rdkafka_assignor_request_rebalance(shim_client *client);

#endif
