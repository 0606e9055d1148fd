/*
 * What the crate calls: registration, answers, questions.
 */
#include "shim_int.h"

/* Not declared in any header of librdkafka, though not static either. */
void rd_kafka_cgrp_handle_Heartbeat(rd_kafka_t *rk,
                                    rd_kafka_broker_t *rkb,
                                    rd_kafka_resp_err_t err,
                                    rd_kafka_buf_t *rkbuf,
                                    rd_kafka_buf_t *request,
                                    void *opaque);

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
                &rk->rk_conf, "rdkafka-assignor", shim_on_conf_destroy, client)) {
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
            shim_assign_cb, shim_get_metadata_cb, shim_on_assignment_cb, NULL, NULL,
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
        rkas->rkas_on_assignment_cb = shim_on_built_in_assignment_cb;
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
        rkq->rkq_serve  = shim_serve_cb;
        rkq->rkq_opaque = client;
        mtx_unlock(&rkq->rkq_lock);
        rd_kafka_timer_start(&client->rk->rk_timers, &client->look, 100 * 1000,
                             shim_look_outside, client);
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
                if (rkas->rkas_assign_cb != shim_assign_cb)
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
