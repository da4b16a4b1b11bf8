/**
 * Triggers: rules that send the changes of a database's keys to a destination. The position of each is not here: the
 * queue's journal has it (`OutboxTaken`). The order of fields is the stored format.
 */
import type { AccountId, DatabaseId, TriggerId } from '../../kernel/index.js';
import {
  absent,
  flag,
  integer,
  listOf,
  looseText,
  openRecord,
  type TypeOf,
  wordOf,
} from '../../kernel/schema/index.js';
import { accountId, databaseId, shardName, triggerId } from './ids.js';
import { Owned } from './owned.js';

/** `workflow`: each record starts a run at the URL. */
const TRIGGER_TARGETS = ['publish', 'workflow'] as const;
/** `key`: a later record of a key waits until the earlier one is delivered or has failed. */
export const TRIGGER_ORDERS = ['key', 'none'] as const;
const TRIGGER_FROMS = ['now', 'time', 'snapshot'] as const;
/** Values that a record shows in addition to the effect. */
export const TRIGGER_VALUES = ['before', 'after'] as const;

const triggerDestination = openRecord({
  kind: wordOf(...TRIGGER_TARGETS),
  /** A URL, or the name of a URL group. */
  target: looseText(),
  /** The queue of the account that records go through; empty: those of the trigger, or none. */
  queue: looseText(),
});

/** The journal of a shard is read after this position. */
export const triggerStart = openRecord({ shard: shardName, position: integer });
export type TriggerStart = TypeOf<typeof triggerStart>;

export const trigger = openRecord({
  id: triggerId,
  account: accountId,
  database: databaseId,
  name: looseText(),
  /** Glob patterns of keys; one of them has to match. */
  patterns: listOf(looseText()),
  events: listOf(looseText()),
  /** In the filter language of search; empty: none. */
  filter: looseText(),
  destination: triggerDestination,
  /** Headers of a publish. */
  options: listOf(openRecord({ name: looseText(), value: looseText() })),
  values: listOf(wordOf(...TRIGGER_VALUES)),
  order: wordOf(...TRIGGER_ORDERS),
  /** Keys are spread over so many queues. */
  lanes: integer,
  from: wordOf(...TRIGGER_FROMS),
  starts: listOf(triggerStart),
  isPaused: flag,
  createdAtMs: integer,
  /** The first partition of the layout that `starts` belong to; undefined: 0. */
  firstPartition: absent(integer),
});
export type Trigger = TypeOf<typeof trigger>;

export class TriggerRecords {
  readonly byId = new Map<TriggerId, Trigger>();
  readonly #byAccount = new Owned<AccountId, TriggerId>();
  readonly #byDatabase = new Owned<DatabaseId, TriggerId>();

  /** Sets or replaces the trigger. Only `evolve` calls this. */
  put(one: Trigger): void {
    this.byId.set(one.id, one);
    this.#byAccount.add(one.account, one.id);
    this.#byDatabase.add(one.database, one.id);
  }

  /** Only `evolve` calls this. */
  delete(id: TriggerId): void {
    const one = this.byId.get(id);
    if (one === undefined) return;
    this.byId.delete(id);
    this.#byAccount.remove(one.account, id);
    this.#byDatabase.remove(one.database, id);
  }

  /** Oldest first. */
  of(account: AccountId): Trigger[] {
    return this.#each(this.#byAccount.of(account));
  }

  ofDatabase(database: DatabaseId): Trigger[] {
    return this.#each(this.#byDatabase.of(database));
  }

  /** After the end of an account. */
  dropOf(account: AccountId): void {
    for (const { id } of this.of(account)) this.delete(id);
  }

  /** After the end of a database. */
  dropOfDatabase(database: DatabaseId): void {
    for (const { id } of this.ofDatabase(database)) this.delete(id);
  }

  #each(ids: ReadonlySet<TriggerId>): Trigger[] {
    const found = [...ids].flatMap((id) => this.byId.get(id) ?? []);
    return found.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  }
}
