/** Branded ids: strings that the compiler distinguishes. */

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** `db-<16 base32 characters>`. */
export type DatabaseId = Branded<'DatabaseId'>;
/**
 * A part of one database or account: `kv:<database id>:<index>`, `queue:<account id>`; the unit of state, replay and
 * deletion.
 */
export type PartitionName = Branded<'PartitionName'>;
/** The unit of ownership and fencing: `KV_3`, `CONTROL`. Also the stream's name without its prefix. */
export type ShardName = Branded<'ShardName'>;
/** One running process: `node-<random>`. */
export type SessionId = Branded<'SessionId'>;
/** One command of a remote caller, created by its edge; it is stored in the entry with its effect. */
export type CommandId = Branded<'CommandId'>;
/** `ac-<16 base32 characters>`: the account that owns databases, queues and schedules. */
export type AccountId = Branded<'AccountId'>;
/**
 * `msg_<28 base58 characters>`, the first eight encoding its time; created when the message is accepted and the same
 * for all attempts.
 */
export type MessageId = Branded<'MessageId'>;
/** `<unix ms>-<number>`: when the message moved to the DLQ, and its number within the partition. */
export type DlqId = Branded<'DlqId'>;
/** `wfr_<21 characters>` or the client's choice; reusable after the run has ended. */
export type RunId = Branded<'RunId'>;
/** `scd_<28 base58 characters>`, or the caller's choice. */
export type ScheduleId = Branded<'ScheduleId'>;
/** `key_<16 base32 characters>`. */
export type ApiKeyId = Branded<'ApiKeyId'>;
/** `bk-<16 base32 characters>`. */
export type BackupId = Branded<'BackupId'>;
/** `al-<16 base32 characters>`, or `al-<kind>` of a built-in rule. */
export type AlertRuleId = Branded<'AlertRuleId'>;
/** `tr-<16 base32 characters>`. */
export type TriggerId = Branded<'TriggerId'>;

/** Randomness as passed to deciders and handlers, which never create their own. The port of that name provides one. */
export interface Random {
  bytes(count: number): Uint8Array;
  /** Uniform in [0, 1). */
  float(): number;
}
