/** Branded ids: strings that the compiler keeps apart. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** `db-<16 base32 characters>`. */
export type DatabaseId = Branded<'DatabaseId'>;
/** A slice of one database or account: `kv:<database id>:<index>`, `queue:<account id>`; the unit of state, replay and deletion. */
export type PartitionName = Branded<'PartitionName'>;
/** The unit of ownership and fencing: `KV_3`, `CONTROL`. Also the stream's name without its prefix. */
export type ShardName = Branded<'ShardName'>;
/** One running process: `node-<random>`. */
export type SessionId = Branded<'SessionId'>;
/** One command of a remote caller, made by its edge; travels into the entry that answers it. */
export type CommandId = Branded<'CommandId'>;
/** `ac-<16 base32 characters>`: whose databases, queues and schedules they are. */
export type AccountId = Branded<'AccountId'>;
/** `msg_<28 base58 characters>`, the first eight its time, made by whoever accepts the message; the same across all its attempts. */
export type MessageId = Branded<'MessageId'>;
/** `<unix ms>-<number>`: when the message came to rest there, and its number within the partition. */
export type DlqId = Branded<'DlqId'>;
/** `wfr_<21 characters>` or what the client chose; free again once the run has ended. */
export type RunId = Branded<'RunId'>;
/** `scd_<28 base58 characters>`, or what the caller chose. */
export type ScheduleId = Branded<'ScheduleId'>;
/** `key_<16 base32 characters>`. */
export type ApiKeyId = Branded<'ApiKeyId'>;
/** `bk-<16 base32 characters>`. */
export type BackupId = Branded<'BackupId'>;
