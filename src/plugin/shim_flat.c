/*
 * librdkafka's values as the flat structs of shim.h. They borrow what they point at.
 */
#include "shim_int.h"

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

static shim_bytes flat_str(const rd_kafkap_str_t *s) {
        if (!s || RD_KAFKAP_STR_IS_NULL(s))
                return (shim_bytes) {NULL, 0};
        return (shim_bytes) {(const uint8_t *)s->str, (size_t)s->len};
}

shim_bytes shim_flat_bytes(const rd_kafkap_bytes_t *b) {
        if (!b || RD_KAFKAP_BYTES_IS_NULL(b) || !b->data)
                return (shim_bytes) {NULL, 0};
        return (shim_bytes) {(const uint8_t *)b->data, (size_t)b->len};
}

shim_partitions shim_flat_list(const rd_kafka_topic_partition_list_t *list) {
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
            .user_data    = shim_flat_bytes(m->rkgm_userdata),
            .subscription = shim_flat_list(m->rkgm_subscription),
            .owned        = shim_flat_list(m->rkgm_owned),
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

void shim_flat_group(shim_group *group,
                     const rd_kafka_group_member_t *members,
                     size_t member_cnt,
                     rd_kafka_assignor_topic_t **eligible,
                     size_t eligible_cnt) {
        shim_member *flat  = rd_calloc(member_cnt + 1, sizeof(*flat));
        shim_topic *topics = rd_calloc(eligible_cnt + 1, sizeof(*topics));
        size_t i;

        for (i = 0; i < member_cnt; i++)
                flat[i] = flat_member(&members[i]);
        group->members    = flat;
        group->member_cnt = member_cnt;
        group->topics     = topics;
        group->topic_cnt  = flat_topics(eligible, eligible_cnt, topics);
}

void shim_free_group(shim_group *group) {
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
