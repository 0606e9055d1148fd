/*
 * What librdkafka calls, on which of its threads or ours.
 */
#include "shim_int.h"

/* ---- the main thread ---- */

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

rd_kafka_resp_err_t shim_assign_cb(rd_kafka_t *rk,
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
        shim_answer answer            = {members, member_cnt};
        shim_group group              = {.id         = rk->rk_group_id->str,
                                         .leader     = member_id,
                                         .generation = rk->rk_cgrp->rkcg_generation_id};
        size_t i;
        int err;

        shim_flat_group(&group, members, member_cnt, eligible, eligible_cnt);
        err = assignor->client->callbacks.assign(assignor->opaque, &group,
                                                 &answer, errstr, errstr_size);
        shim_free_group(&group);
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
void shim_look_outside(rd_kafka_timers_t *timers, void *opaque) {
        shim_client *client         = opaque;
        const rd_kafka_cgrp_t *rkcg = client->rk->rk_cgrp;

        if (!client->is_member ||
            (rkcg->rkcg_subscription && rkcg->rkcg_generation_id >= 0 &&
             RD_KAFKAP_STR_LEN(rkcg->rkcg_member_id) > 0))
                return;
        client->is_member = rd_false;
        supersede(client, NULL);
}

rd_kafkap_bytes_t *
shim_get_metadata_cb(const rd_kafka_assignor_t *rkas,
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
                                  .owned  = shim_flat_list(owned),
                                  .generation = client->generation};
        const rd_kafka_topic_info_t *info;
        int i;

        /* The wanted rebalance is this one. */
        rd_kafka_timer_stop(&client->rk->rk_timers, &client->retry, RD_DO_LOCK);

        RD_LIST_FOREACH(info, topics, i)
        names[i] = info->topic;
        shim_look_outside(&client->rk->rk_timers, client);
        client->callbacks.subscription_user_data(assignor->opaque, &join,
                                                 &metadata);
        if (!metadata.bytes)
                rdkafka_assignor_put_user_data(&metadata, NULL, 0);
        rd_free(names);
        if (join.owned.items)
                rd_free((void *)join.owned.items);
        return metadata.bytes;
}

void shim_on_assignment_cb(const rd_kafka_assignor_t *rkas,
                           void **assignor_state,
                           const rd_kafka_topic_partition_list_t *assignment,
                           const rd_kafkap_bytes_t *user_data,
                           const rd_kafka_consumer_group_metadata_t *rkcgm) {
        const shim_assignor *assignor = rkas->rkas_opaque;
        shim_assigned assigned        = {.member     = rkcgm->member_id,
                                         .partitions = shim_flat_list(assignment),
                                         .user_data  = shim_flat_bytes(user_data),
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
void shim_on_built_in_assignment_cb(const rd_kafka_assignor_t *rkas,
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


/* ---- the thread that polls ---- */

rd_kafka_op_res_t shim_serve_cb(rd_kafka_t *rk,
                                rd_kafka_q_t *rkq,
                                rd_kafka_op_t *rko,
                                rd_kafka_q_cb_type_t cb_type,
                                void *opaque) {
        shim_client *client = opaque;

        if (rko->rko_type == RD_KAFKA_OP_REBALANCE &&
            rko->rko_err == RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
                shim_partitions list =
                    shim_flat_list(rko->rko_u.rebalance.partitions);

                client->callbacks.on_revoked(client->opaque, &list,
                                             rd_kafka_assignment_lost(rk));
                if (list.items)
                        rd_free((void *)list.items);
        }
        return rd_kafka_poll_cb(rk, rkq, rko, cb_type, NULL);
}


/* ---- the thread that drops the consumer ---- */

/* In the final destroy: the threads are joined, the assignors and the group's queues are gone. */
rd_kafka_resp_err_t shim_on_conf_destroy(void *opaque) {
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
