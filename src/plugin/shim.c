/*
 * librdkafka's private assignor interface, flattened. The only place that knows the layout of its structs:
 * compiled against the headers and the config.h of the very build that is linked.
 */
#include <rdkafka_int.h>
#include <rdkafka_assignor.h>
#include <rdkafka_cgrp.h>
#include <rdkafka_interceptor.h>
#include <rdkafka_op.h>
#include <rdkafka_queue.h>

#include "shim.h"

_Static_assert(RD_KAFKA_VERSION == 0x020c01ff,
               "written against the private headers of librdkafka 2.12.1");
_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8,
               "the layouts below are those of a 64-bit target");
_Static_assert(sizeof(shim_bytes) == 16, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_partition) == 16, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_partitions) == 16, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_names) == 16, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_topic) == 24, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_member) == 104, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_group) == 56, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_join) == 40, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_assigned) == 48, "mirrored in ffi.rs");
_Static_assert(sizeof(shim_callbacks) == 48, "mirrored in ffi.rs");

/* Not declared in any header of librdkafka, though not static either. */
void rd_kafka_cgrp_handle_Heartbeat(rd_kafka_t *rk,
                                    rd_kafka_broker_t *rkb,
                                    rd_kafka_resp_err_t err,
                                    rd_kafka_buf_t *rkbuf,
                                    rd_kafka_buf_t *request,
                                    void *opaque);

typedef void(shim_on_assignment)(const rd_kafka_assignor_t *,
                                void **,
                                const rd_kafka_topic_partition_list_t *,
                                const rd_kafkap_bytes_t *,
                                const rd_kafka_consumer_group_metadata_t *);

/* The opaque of an assignor: of ours, or of a built-in one (which has none of its own) in the same list. */
typedef struct shim_assignor {
        shim_client *client;
        void *opaque;
        shim_on_assignment *built_in; /* what is called besides, or NULL */
        struct shim_assignor *next;
} shim_assignor;

/* Lives from attach to the final destroy of the handle, longer than any assignor or queue that points at it. */
struct shim_client {
        rd_kafka_t *rk;
        shim_callbacks callbacks;
        void *opaque;
        shim_assignor *assignors;
        int32_t generation;     /* of the last assignment; main thread only */
        rd_bool_t is_member;    /* since then, likewise */
        rd_kafka_timer_t look;  /* whether it still is */
        rd_kafka_timer_t retry; /* of a rebalance that cannot be requested now */
};

struct shim_answer {
        rd_kafka_group_member_t *members;
        size_t member_cnt;
};

struct shim_metadata {
        rd_kafkap_bytes_t *bytes;
        const rd_list_t *topics;
        const rd_kafka_topic_partition_list_t *owned;
        const rd_kafkap_str_t *rack;
        int32_t generation;
};


/* ---- librdkafka's values, flattened ---- */

static shim_bytes flat_str(const rd_kafkap_str_t *s) {
        if (!s || RD_KAFKAP_STR_IS_NULL(s))
                return (shim_bytes) {NULL, 0};
        return (shim_bytes) {(const uint8_t *)s->str, (size_t)s->len};
}

static shim_bytes flat_bytes(const rd_kafkap_bytes_t *b) {
        if (!b || RD_KAFKAP_BYTES_IS_NULL(b) || !b->data)
                return (shim_bytes) {NULL, 0};
        return (shim_bytes) {(const uint8_t *)b->data, (size_t)b->len};
}

/* To be freed with rd_free(items); room for one more keeps an empty list apart from an absent one. */
static shim_partitions flat_list(const rd_kafka_topic_partition_list_t *list) {
        shim_partition *items;
        int i;

        if (!list)
                return (shim_partitions) {NULL, 0};
        items = rd_calloc((size_t)list->cnt + 1, sizeof(*items));
        for (i = 0; i < list->cnt; i++) {
                items[i].topic     = list->elems[i].topic;
                items[i].partition = list->elems[i].partition;
        }
        return (shim_partitions) {items, (size_t)list->cnt};
}

static shim_member flat_member(const rd_kafka_group_member_t *m) {
        return (shim_member) {
            .id           = flat_str(m->rkgm_member_id),
            .instance     = flat_str(m->rkgm_group_instance_id),
            .rack         = flat_str(m->rkgm_rack_id),
            .user_data    = flat_bytes(m->rkgm_userdata),
            .subscription = flat_list(m->rkgm_subscription),
            .owned        = flat_list(m->rkgm_owned),
            .generation   = m->rkgm_generation,
        };
}

/* Racks are known to the metadata only if some member has one. */
static const shim_names *flat_racks(const rd_kafka_assignor_topic_t *t) {
        const rd_kafka_metadata_topic_internal_t *mdti = t->metadata_internal;
        shim_names *racks;
        int i;
        int known = 0;

        if (!mdti || !mdti->partitions || t->metadata->partition_cnt <= 0)
                return NULL;
        racks = rd_calloc((size_t)t->metadata->partition_cnt, sizeof(*racks));
        for (i = 0; i < t->metadata->partition_cnt; i++) {
                racks[i].items =
                    (const char *const *)mdti->partitions[i].racks;
                racks[i].len = racks[i].items ? mdti->partitions[i].racks_cnt : 0;
                known |= racks[i].len > 0;
        }
        if (known)
                return racks;
        rd_free(racks);
        return NULL;
}

/* Errored topics are there with no partitions; only "unknown" means that it is gone. */
static size_t flat_topics(rd_kafka_assignor_topic_t **eligible,
                          size_t eligible_cnt,
                          shim_topic *topics) {
        size_t i;
        size_t n = 0;

        for (i = 0; i < eligible_cnt; i++) {
                const rd_kafka_metadata_topic_t *md = eligible[i]->metadata;

                if (md->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                    md->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_ID)
                        continue;
                topics[n++] = (shim_topic) {.name          = md->topic,
                                            .racks         = flat_racks(eligible[i]),
                                            .partition_cnt = md->partition_cnt};
        }
        return n;
}

static void free_group(shim_group *group) {
        size_t i;

        for (i = 0; i < group->member_cnt; i++) {
                rd_free((void *)group->members[i].subscription.items);
                if (group->members[i].owned.items)
                        rd_free((void *)group->members[i].owned.items);
        }
        for (i = 0; i < group->topic_cnt; i++)
                if (group->topics[i].racks)
                        rd_free((void *)group->topics[i].racks);
        rd_free((void *)group->members);
        rd_free((void *)group->topics);
}


/* ---- librdkafka calls: main thread ---- */

/*
 * What librdkafka does next to a cooperative assignment dereferences a missing owned list, keeps what was withheld
 * and knows no generations. With an owned list that equals the assignment it finds nothing to adjust. (An empty list
 * would do as well, but librdkafka sizes its hash tables by the owned lists.)
 */
static void disarm_adjustment(rd_kafka_group_member_t *m) {
        if (m->rkgm_owned)
                rd_kafka_topic_partition_list_destroy(m->rkgm_owned);
        m->rkgm_owned = rd_kafka_topic_partition_list_copy(m->rkgm_assignment);
}

static rd_kafka_resp_err_t assign_cb(rd_kafka_t *rk,
                                     const rd_kafka_assignor_t *rkas,
                                     const char *member_id,
                                     const rd_kafka_metadata_t *metadata,
                                     rd_kafka_group_member_t *members,
                                     size_t member_cnt,
                                     rd_kafka_assignor_topic_t **eligible,
                                     size_t eligible_cnt,
                                     char *errstr,
                                     size_t errstr_size,
                                     void *opaque) {
        const shim_assignor *assignor = opaque;
        shim_member *flat   = rd_calloc(member_cnt + 1, sizeof(*flat));
        shim_topic *topics  = rd_calloc(eligible_cnt + 1, sizeof(*topics));
        shim_answer answer  = {members, member_cnt};
        shim_group group    = {.id         = rk->rk_group_id->str,
                               .leader     = member_id,
                               .topics     = topics,
                               .members    = flat,
                               .member_cnt = member_cnt,
                               .generation = rk->rk_cgrp->rkcg_generation_id};
        size_t i;
        int err;

        for (i = 0; i < member_cnt; i++)
                flat[i] = flat_member(&members[i]);
        group.topic_cnt = flat_topics(eligible, eligible_cnt, topics);

        err = assignor->client->callbacks.assign(assignor->opaque, &group,
                                                 &answer, errstr, errstr_size);
        free_group(&group);
        if (err)
                return RD_KAFKA_RESP_ERR__FAIL;

        if (rkas->rkas_protocol == RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE)
                for (i = 0; i < member_cnt; i++)
                        disarm_adjustment(&members[i]);
        return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Tells all of our assignors but the one that decided, if one did. */
static void supersede(const shim_client *client, const shim_assignor *decider) {
        const shim_assignor *assignor;

        for (assignor = client->assignors; assignor; assignor = assignor->next)
                if (assignor != decider && assignor->opaque)
                        client->callbacks.on_superseded(assignor->opaque);
}

/*
 * Tells our assignors, once, of a member that has unsubscribed or that was thrown out (it forgets its id or its
 * generation). One that owns nothing, but may keep standbys, hears of it in no other way: nothing is revoked.
 */
static void look_outside(rd_kafka_timers_t *timers, void *opaque) {
        shim_client *client         = opaque;
        const rd_kafka_cgrp_t *rkcg = client->rk->rk_cgrp;

        if (!client->is_member ||
            (rkcg->rkcg_subscription && rkcg->rkcg_generation_id >= 0 &&
             RD_KAFKAP_STR_LEN(rkcg->rkcg_member_id) > 0))
                return;
        client->is_member = rd_false;
        supersede(client, NULL);
}

static rd_kafkap_bytes_t *
get_metadata_cb(const rd_kafka_assignor_t *rkas,
                void *assignor_state, /* of whichever assignor won last */
                const rd_list_t *topics,
                const rd_kafka_topic_partition_list_t *owned,
                const rd_kafkap_str_t *rack) {
        const shim_assignor *assignor = rkas->rkas_opaque;
        shim_client *client           = assignor->client;
        const char **names = rd_calloc((size_t)rd_list_cnt(topics) + 1,
                                       sizeof(*names));
        shim_metadata metadata = {NULL, topics, owned, rack, client->generation};
        shim_join join         = {.topics = {names, (size_t)rd_list_cnt(topics)},
                                  .owned  = flat_list(owned),
                                  .generation = client->generation};
        const rd_kafka_topic_info_t *info;
        int i;

        /* The wanted rebalance is this one. */
        rd_kafka_timer_stop(&client->rk->rk_timers, &client->retry, RD_DO_LOCK);

        RD_LIST_FOREACH(info, topics, i)
        names[i] = info->topic;
        look_outside(&client->rk->rk_timers, client);
        client->callbacks.subscription_user_data(assignor->opaque, &join,
                                                 &metadata);
        if (!metadata.bytes)
                rdkafka_assignor_put_user_data(&metadata, NULL, 0);
        rd_free(names);
        if (join.owned.items)
                rd_free((void *)join.owned.items);
        return metadata.bytes;
}

static void on_assignment_cb(const rd_kafka_assignor_t *rkas,
                             void **assignor_state,
                             const rd_kafka_topic_partition_list_t *assignment,
                             const rd_kafkap_bytes_t *user_data,
                             const rd_kafka_consumer_group_metadata_t *rkcgm) {
        const shim_assignor *assignor = rkas->rkas_opaque;
        shim_assigned assigned        = {.member     = rkcgm->member_id,
                                         .partitions = flat_list(assignment),
                                         .user_data  = flat_bytes(user_data),
                                         .generation = rkcgm->generation_id};

        assignor->client->generation = rkcgm->generation_id;
        assignor->client->is_member  = rd_true;
        supersede(assignor->client, assignor);
        assignor->client->callbacks.on_assignment(assignor->opaque, &assigned);
        if (assigned.partitions.items)
                rd_free((void *)assigned.partitions.items);
}

/*
 * A built-in assignor won: what ours gave last does not hold any more. What is owned from now on is owned since this
 * generation, whoever leads next: without it a zombie's claim could look newer.
 */
static void
on_built_in_assignment_cb(const rd_kafka_assignor_t *rkas,
                          void **assignor_state,
                          const rd_kafka_topic_partition_list_t *assignment,
                          const rd_kafkap_bytes_t *user_data,
                          const rd_kafka_consumer_group_metadata_t *rkcgm) {
        const shim_assignor *assignor = rkas->rkas_opaque;

        assignor->client->generation = rkcgm->generation_id;
        supersede(assignor->client, assignor);
        if (assignor->built_in)
                assignor->built_in(rkas, assignor_state, assignment, user_data,
                                   rkcgm);
}


/* ---- librdkafka calls: the thread that polls ---- */

static rd_kafka_op_res_t serve_cb(rd_kafka_t *rk,
                                  rd_kafka_q_t *rkq,
                                  rd_kafka_op_t *rko,
                                  rd_kafka_q_cb_type_t cb_type,
                                  void *opaque) {
        shim_client *client = opaque;

        if (rko->rko_type == RD_KAFKA_OP_REBALANCE &&
            rko->rko_err == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
                shim_partitions list =
                    flat_list(rko->rko_u.rebalance.partitions);

                client->callbacks.on_revoked(client->opaque, &list,
                                             rd_kafka_assignment_lost(rk));
                if (list.items)
                        rd_free((void *)list.items);
        }
        return rd_kafka_poll_cb(rk, rkq, rko, cb_type, NULL);
}


/* ---- the handle goes ---- */

/* In the final destroy: the threads are joined, the assignors and the group's queues are gone. */
static rd_kafka_resp_err_t on_conf_destroy(void *opaque) {
        shim_client *client = opaque;
        shim_assignor *next = client->assignors;

        client->callbacks.closed(client->opaque);
        while (next) {
                shim_assignor *assignor = next;

                next = assignor->next;
                rd_free(assignor);
        }
        rd_free(client);
        return RD_KAFKA_RESP_ERR_NO_ERROR;
}


/* ---- called by us ---- */

int rdkafka_assignor_built_version(void) {
        return RD_KAFKA_VERSION;
}

int rdkafka_assignor_attach(rd_kafka_t *rk,
                            const shim_callbacks *callbacks,
                            void *opaque,
                            shim_client **clientp) {
        shim_client *client;

        if (!rk->rk_cgrp)
                return SHIM_NO_GROUP;
        if (rk->rk_cgrp->rkcg_group_protocol != RD_KAFKA_GROUP_PROTOCOL_CLASSIC)
                return SHIM_CONSUMER_TYPE;

        client             = rd_calloc(1, sizeof(*client));
        client->rk         = rk;
        client->callbacks  = *callbacks;
        client->opaque     = opaque;
        client->generation = -1;
        if (rd_kafka_conf_interceptor_add_on_conf_destroy(
                &rk->rk_conf, "rdkafka-assignor", on_conf_destroy, client)) {
                rd_free(client);
                return SHIM_REFUSED;
        }
        *clientp = client;
        return SHIM_OK;
}

static shim_assignor *new_assignor(shim_client *client, void *opaque) {
        shim_assignor *assignor = rd_calloc(1, sizeof(*assignor));

        assignor->client  = client;
        assignor->opaque  = opaque;
        assignor->next    = client->assignors;
        client->assignors = assignor;
        return assignor;
}

int rdkafka_assignor_add(shim_client *client,
                         const char *name,
                         int cooperative,
                         void *opaque) {
        rd_kafka_resp_err_t err;

        err = rd_kafka_assignor_add(
            client->rk, "consumer", name,
            cooperative ? RD_KAFKA_REBALANCE_PROTOCOL_COOPERATIVE
                        : RD_KAFKA_REBALANCE_PROTOCOL_EAGER,
            assign_cb, get_metadata_cb, on_assignment_cb, NULL, NULL,
            new_assignor(client, opaque));
        if (!err)
                return SHIM_OK;
        return err == RD_KAFKA_RESP_ERR__CONFLICT ? SHIM_NAME_TAKEN
                                                  : SHIM_REFUSED;
}

static void wrap_built_in(shim_client *client, rd_kafka_assignor_t *rkas) {
        shim_assignor *assignor;

        if (rkas->rkas_opaque)
                return; /* ours, or wrapped */
        assignor                    = new_assignor(client, NULL);
        assignor->built_in          = rkas->rkas_on_assignment_cb;
        rkas->rkas_opaque           = assignor;
        rkas->rkas_on_assignment_cb = on_built_in_assignment_cb;
}

/* By comparison, not by subtraction: disabled assignors have INT_MAX. */
static int by_index(const void *a, const void *b) {
        const rd_kafka_assignor_t *x = a;
        const rd_kafka_assignor_t *y = b;

        return RD_CMP(x->rkas_index, y->rkas_index);
}

int rdkafka_assignor_order(shim_client *client, shim_names names) {
        rd_kafka_t *rk  = client->rk;
        rd_list_t *list = &rk->rk_conf.partition_assignors;
        rd_kafka_assignor_t *rkas;
        size_t n;
        int i;

        for (n = 0; n < names.len; n++)
                if (!rd_kafka_assignor_find(rk, names.items[n]))
                        return SHIM_REFUSED;

        RD_LIST_FOREACH(rkas, list, i) {
                rkas->rkas_enabled = 0;
                rkas->rkas_index   = INT_MAX;
        }
        for (n = 0; n < names.len; n++) {
                rkas               = rd_kafka_assignor_find(rk, names.items[n]);
                rkas->rkas_enabled = 1;
                rkas->rkas_index   = (int)n;
                wrap_built_in(client, rkas);
        }
        rk->rk_conf.enabled_assignor_cnt = (int)names.len;

        rd_list_sort(list, by_index);
        /* Sorted by index, but searched by name. */
        list->rl_flags &= ~RD_LIST_F_SORTED;
        return SHIM_OK;
}

void rdkafka_assignor_watch(shim_client *client) {
        rd_kafka_q_t *rkq = client->rk->rk_cgrp->rkcg_q;

        mtx_lock(&rkq->rkq_lock);
        rkq->rkq_serve  = serve_cb;
        rkq->rkq_opaque = client;
        mtx_unlock(&rkq->rkq_lock);
        rd_kafka_timer_start(&client->rk->rk_timers, &client->look, 100 * 1000,
                             look_outside, client);
}

void rdkafka_assignor_give(shim_answer *answer,
                           size_t member,
                           const char *topic,
                           const int32_t *partitions,
                           size_t partition_cnt) {
        size_t i;

        rd_assert(member < answer->member_cnt);
        for (i = 0; i < partition_cnt; i++)
                rd_kafka_topic_partition_list_add(
                    answer->members[member].rkgm_assignment, topic,
                    partitions[i]);
}

void rdkafka_assignor_give_user_data(shim_answer *answer,
                                     size_t member,
                                     const uint8_t *data,
                                     size_t len) {
        rd_kafka_group_member_t *m;

        rd_assert(member < answer->member_cnt && len <= INT32_MAX);
        m = &answer->members[member];
        if (m->rkgm_userdata)
                rd_kafkap_bytes_destroy(m->rkgm_userdata);
        m->rkgm_userdata = rd_kafkap_bytes_new(data, (int32_t)len);
}

void rdkafka_assignor_put_user_data(shim_metadata *metadata,
                                    const uint8_t *data,
                                    size_t len) {
        rd_assert(!metadata->bytes);
        metadata->bytes = rd_kafka_consumer_protocol_member_metadata_new(
            metadata->topics, data, len, metadata->owned, metadata->generation,
            metadata->rack);
}

/* ---- asked from any thread ---- */

/*
 * Main thread. What a heartbeat does that is told of a rebalance: an eager member revokes and rejoins, a cooperative
 * one rejoins. A member that is about to join, or leaves, needs nothing; one amidst a rebalance waits for its end.
 */
static void rebalance_now(rd_kafka_timers_t *timers, void *opaque) {
        shim_client *client   = opaque;
        rd_kafka_cgrp_t *rkcg = client->rk->rk_cgrp;
        int in_transit;

        if (rd_kafka_terminating(client->rk) ||
            rkcg->rkcg_flags & RD_KAFKA_CGRP_F_TERMINATE ||
            rkcg->rkcg_join_state == RD_KAFKA_CGRP_JOIN_STATE_INIT)
                return;
        if (rkcg->rkcg_join_state != RD_KAFKA_CGRP_JOIN_STATE_STEADY) {
                rd_kafka_timer_start_oneshot(timers, &client->retry, rd_true,
                                             100 * 1000, rebalance_now, client);
                return;
        }
        in_transit = rkcg->rkcg_flags & RD_KAFKA_CGRP_F_HEARTBEAT_IN_TRANSIT;
        rkcg->rkcg_flags |= RD_KAFKA_CGRP_F_HEARTBEAT_IN_TRANSIT;
        rd_kafka_cgrp_handle_Heartbeat(client->rk, NULL,
                                       RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS,
                                       NULL, NULL, rkcg);
        rkcg->rkcg_flags |= in_transit;
}

static rd_kafka_op_res_t rebalance_op(rd_kafka_t *rk,
                                      rd_kafka_q_t *rkq,
                                      rd_kafka_op_t *rko) {
        const rd_kafka_assignor_t *rkas;
        int i;

        if (rko->rko_err == RD_KAFKA_RESP_ERR__DESTROY)
                return RD_KAFKA_OP_RES_HANDLED;
        RD_LIST_FOREACH(rkas, &rk->rk_conf.partition_assignors, i) {
                if (rkas->rkas_assign_cb != assign_cb)
                        continue;
                rebalance_now(&rk->rk_timers,
                              ((shim_assignor *)rkas->rkas_opaque)->client);
                break;
        }
        return RD_KAFKA_OP_RES_HANDLED;
}

/*
 * The handle itself is there until `closed`, its group is not. The final destroy takes the lock once between setting
 * the terminating flag and freeing the group: whoever holds the lock and does not see the flag may use the group.
 */
static rd_kafka_cgrp_t *lock_group(rd_kafka_t *rk) {
        rd_kafka_rdlock(rk);
        if (!rd_kafka_terminating(rk))
                return rk->rk_cgrp;
        rd_kafka_rdunlock(rk);
        return NULL;
}

int rdkafka_assignor_lost(shim_client *client) {
        rd_kafka_t *rk        = client->rk;
        rd_kafka_cgrp_t *rkcg = lock_group(rk);
        int lost;

        if (!rkcg)
                return 1;
        lost = rd_atomic32_get(&rkcg->rkcg_terminated) ||
               rd_kafka_fatal_error_code(rk) || rd_kafka_assignment_lost(rk);
        rd_kafka_rdunlock(rk);
        return lost;
}

void rdkafka_assignor_request_rebalance(shim_client *client) {
        rd_kafka_t *rk        = client->rk;
        rd_kafka_cgrp_t *rkcg = lock_group(rk);

        if (!rkcg)
                return;
        rd_kafka_q_enq(rkcg->rkcg_ops, rd_kafka_op_new_cb(rk, RD_KAFKA_OP_WAKEUP,
                                                          rebalance_op));
        rd_kafka_rdunlock(rk);
}
