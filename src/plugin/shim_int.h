/*
 * What the files of the shim share. Only they know the layout of librdkafka's structs: compiled against the headers and
 * the config.h of the very build that is linked.
 */
#ifndef RDKAFKA_ASSIGNOR_SHIM_INT_H
#define RDKAFKA_ASSIGNOR_SHIM_INT_H

#include <rdkafka_int.h>
#include <rdkafka_assignor.h>
#include <rdkafka_cgrp.h>
#include <rdkafka_interceptor.h>
#include <rdkafka_op.h>
#include <rdkafka_queue.h>

#include "shim.h"

_Static_assert(RD_KAFKA_VERSION == 0x020c01ff,
               "written against the private headers of librdkafka 2.12.1");

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

/* shim_flat.c: librdkafka's values, flattened. */

shim_bytes shim_flat_bytes(const rd_kafkap_bytes_t *b);
/* To be freed with rd_free(items); room for one more keeps an empty list apart from an absent one. */
shim_partitions
shim_flat_list(const rd_kafka_topic_partition_list_t *list);
/* A group's members and topics, to be given back to `shim_free_group`; the rest is untouched. */
void shim_flat_group(shim_group *group,
                     const rd_kafka_group_member_t *members,
                     size_t member_cnt,
                     rd_kafka_assignor_topic_t **eligible,
                     size_t eligible_cnt);
void shim_free_group(shim_group *group);

/* shim_calls.c: what librdkafka calls. */

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
                                   void *opaque);
rd_kafkap_bytes_t *
shim_get_metadata_cb(const rd_kafka_assignor_t *rkas,
                     void *assignor_state,
                     const rd_list_t *topics,
                     const rd_kafka_topic_partition_list_t *owned,
                     const rd_kafkap_str_t *rack);
shim_on_assignment shim_on_assignment_cb;
shim_on_assignment shim_on_built_in_assignment_cb;
rd_kafka_op_res_t shim_serve_cb(rd_kafka_t *rk,
                                rd_kafka_q_t *rkq,
                                rd_kafka_op_t *rko,
                                rd_kafka_q_cb_type_t cb_type,
                                void *opaque);
/* Of a timer. */
void shim_look_outside(rd_kafka_timers_t *timers, void *opaque);
/* In the final destroy. */
rd_kafka_resp_err_t shim_on_conf_destroy(void *opaque);

#endif
