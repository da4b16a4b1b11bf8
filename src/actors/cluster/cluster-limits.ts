/** Every bound of looking at a cluster and steering it, with its reason. */

/** Each restart of a drained process leaves an entry behind; so many at once are no maintenance any more. */
export const MAX_DRAINED = 64;
/** A wish that others change at the same moment is tried again so often. */
export const MAX_WISH_TRIES = 10;
/** A process that is well answers in milliseconds; one that does not answer in this time is shown as silent. */
export const PROCESS_ANSWER_MS = 1_000;
/** However many look at the cluster through one process, it is asked once in this time. */
export const LOOK_FRESH_MS = 500;
/** Between two looks for alarms, by the owner of the control shard: a few questions each. */
export const ALARM_LOOK_MS = 10_000;
