import { isMillraceError, MillraceError } from './errors.js';

/**
 * Levels of stored formats: entries, records and snapshots. A program reads every level up to its own, for ever. It
 * writes a format of a new level only after the installation was raised to that level.
 *
 * 1  all formats from before levels existed: events of the control state up to 38
 * 2  the journal records which level applies from which position on: event 39 of the control state, `FormatRaised`
 * 3  a delivered message may have the beginning of its answer: the fifth place of `MessageDelivered`
 * 4  alert rules and alerts: events 40 to 46 of the control state; contents of entries in `RunStarted`, for reruns;
 *    messages of databases: the effects `QUEUE.PENDING` and `QUEUE.SENT`, and event 49 of queues, `OutboxTaken`;
 *    the effects of arrays, vector indexes and full-text indexes: `AR*`, `VECTOR.*`, `SEARCH.*`
 * 5  the effects of streams `XCFGSET`, `XIDMPRECORD` and `XNACK`; branches of databases: the last field of
 *    `DatabaseCreated`, manifests with ranges of a journal; the effects of filters and sketches: `BF.*`, `CF.*`, `CMS.*`, `TOPK.*`, `TDIGEST.*`, `SKETCH.*`;
 *    triggers: events 47 and 48 of the control state, alert rules of the kind `trigger-lag`;
 *    the effects of vector sets: `VRECORD`, `VREM`, `VSETATTR`;
 *    layouts of databases: event 49 of the control state, the effects `PARTITION.CLOSE` and `PARTITION.OPEN`
 * 6  priorities of messages: the last field of their settings; applications: events 52 to 57 of queues, and webhooks: the
 *    last field of envelopes; breakers of destinations: events 50 and 51 of queues;
 *    sessions and people of identity providers: events 50 to 52 of the control state;
 *    roles, their assignments and keys with a role: events 53 to 56 of the control state, the last fields of API keys
 * 7  labels and reports of use, exports of the audit log: events 57 to 59 of the control state; alert rules of the kind
 *    `audit-export`; messages of queues to `mailto:` URLs
 *
 * An optional last field, which readers of the previous level skip, needs no new level. A change at which they would
 * stop does: another type, version or meaning.
 */
export const FIRST_FORMAT_LEVEL = 1;
/** The highest level that this program reads and writes. */
export const FORMAT_LEVEL = 7;
/** From this level on answers of successful attempts are stored. */
export const ANSWERS_FORMAT_LEVEL = 3;
/** From this level on alert rules and alerts are stored. */
export const ALERTS_FORMAT_LEVEL = 4;
/** From this level on runs can be started with the entries of other runs. */
export const RERUNS_FORMAT_LEVEL = 4;
/** From this level on databases store messages for the queue. */
export const OUTBOX_FORMAT_LEVEL = 4;
/** From this level on streams know the messages of producers, and XNACK releases entries. */
export const PRODUCERS_FORMAT_LEVEL = 5;
/** From this level on the effects of filters and sketches are stored. */
export const SKETCHES_FORMAT_LEVEL = 5;
/** From this level on the effects of vector sets are stored. */
export const VECTOR_SETS_FORMAT_LEVEL = 5;
/** From this level on the effects of arrays, vector indexes and full-text indexes are stored. */
export const INDEXES_FORMAT_LEVEL = 4;
/** From this level on databases can be branches of others. */
export const BRANCHES_FORMAT_LEVEL = 5;
/** From this level on triggers are stored. */
export const TRIGGERS_FORMAT_LEVEL = 5;
/** From this level on sessions of people and the roles from identity providers are stored. */
export const SIGN_IN_FORMAT_LEVEL = 6;
/** From this level on roles of accounts, their assignments and keys with a role are stored. */
export const ROLES_FORMAT_LEVEL = 6;
/** From this level on the number of a database's partitions can be changed. */
export const LAYOUTS_FORMAT_LEVEL = 5;
/** From this level on messages can have a priority. */
export const PRIORITIES_FORMAT_LEVEL = 6;
/** From this level on applications and their endpoints are stored. */
export const APPLICATIONS_FORMAT_LEVEL = 6;
/** From this level on accounts can have breakers of destinations. */
export const BREAKERS_FORMAT_LEVEL = 6;

/** From this level on labels and reports of use are stored. */
export const USAGE_FORMAT_LEVEL = 7;
/** From this level on customers have e-mail addresses, and messages are mails: an earlier process cannot send them. */
export const CUSTOMER_MAILS_FORMAT_LEVEL = 7;
/** From this level on exports of the audit log are stored. */
export const AUDIT_EXPORT_FORMAT_LEVEL = 7;

/** A number newer than this program knows, and the newest that it knows. */
export interface NewerThan {
  /** `level`, `version`, `kind`, `field`: numbers that only grow. */
  readonly of: string;
  readonly found: number;
  readonly known: number;
}

/**
 * The error for intact data with an unknown number. Numbers are only added, so a higher one comes from a newer release.
 * Damage is detected separately, by checksums of the nats-server, hashes of entries and digests of snapshots.
 */
export function writtenByNewer(subject: string, { of, found, known }: NewerThan): MillraceError {
  const reason = `${subject} was written by a newer release (${of} ${found}, this program reads up to ${known})`;
  const advice = 'install that release or a later one (docs/operations/upgrades.md)';
  return new MillraceError('NEWER_FORMAT', `${reason}: ${advice}`, { of, found, known });
}

/** The same error with the subject, if the cause is such an error. */
export function newerAbout(subject: string, cause: unknown): MillraceError | undefined {
  if (!isMillraceError(cause, 'NEWER_FORMAT')) return undefined;
  const { of, found, known } = cause.details;
  return writtenByNewer(subject, { of: String(of), found: Number(found), known: Number(known) });
}
