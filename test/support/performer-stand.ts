/** The calls of one activation on manual time, with a journal and destinations that the test plays. */
import {
  AccountQueue,
  type ListLimits,
  Performer,
  QueuePartitionFold,
  type QueueWork,
  type StartedAttempt,
} from '../../src/actors/queue/index.js';
import { DeliveredHeaders, type DeliverySettings } from '../../src/domain/queue/index.js';
import { type ErrorCode, type MessageId, MillraceError } from '../../src/kernel/index.js';
import { type DeliverySigner, type Log, type SignedCall, UNWATCHED } from '../../src/ports/index.js';
import { queuePartition } from '../../src/protocol/index.js';
import { ManualTime } from './memory/index.js';
import { PLAIN_ENVELOPE } from './plain-delivery.js';
import { ACCOUNT, GENEROUS, PLAIN_SETTINGS } from './queue-shard-stand.js';
import { ScriptedHttp } from './scripted-http.js';

export const ATTEMPTED_ID = 'msg_1111111111111111111111111111' as MessageId;

export class PerformerStand {
  readonly time = new ManualTime();
  readonly http = new ScriptedHttp();
  readonly works: QueueWork[] = [];
  readonly alarms: string[] = [];
  /** The results of reads of a body from the journal: errors first, then the body. */
  readonly loads: (ErrorCode | string)[] = [];
  signature: () => string | undefined = () => 'signed';
  /** The signer of calls. */
  sign: DeliverySigner['sign'] = () => this.signature();
  readonly log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (event) => void this.alarms.push(event),
    with: () => this.log,
  };
  holdsLease = true;
  readonly performer: Performer;
  /** The bodies in memory. */
  readonly contents = new Map<number, Uint8Array>([[1, Buffer.from('in memory')]]);

  readonly queue = new AccountQueue(
    queuePartition(ACCOUNT),
    new QueuePartitionFold(),
    {
      put() {},
      drop() {},
      sealed() {},
      hold() {},
      letGo() {},
      stored() {},
      replayedAt() {},
      covered() {},
      close() {},
      get: (number) => this.contents.get(number),
      load: async () => {
        const next = this.loads.length > 1 ? this.loads.shift() : this.loads[0];
        if (next === 'JOURNAL_UNAVAILABLE' || next === 'JOURNAL_DAMAGED') throw new MillraceError(next, 'not read');
        return Buffer.from(next ?? '');
      },
    },
    () => {},
  );

  constructor(lists?: ListLimits) {
    const ports = {
      mayCall: () => this.holdsLease,
      http: this.http,
      signer: { sign: (call: SignedCall) => this.sign(call) },
      webhooks: { headersFor: () => [] },
      headers: new DeliveredHeaders({ alias: undefined, region: undefined }),
      clock: this.time,
      timers: this.time,
      log: this.log,
      metrics: UNWATCHED,
      submit: (work: QueueWork) => void this.works.push(work),
    };
    this.performer = new Performer(ports, lists);
  }

  /** Starts a delivery; resolves when its call has been made, if it can be. */
  async perform(body = 1, settings: Partial<DeliverySettings> = {}): Promise<void> {
    const envelope: StartedAttempt['envelope'] = {
      ...PLAIN_ENVELOPE,
      url: 'https://a.example/',
      settings: { ...PLAIN_SETTINGS, ...settings },
    };
    const attempt = { id: ATTEMPTED_ID, envelope, body: { number: body, bytes: 9 }, retried: 2, restarts: 1 };
    await this.make(attempt);
  }

  async make(attempt: StartedAttempt): Promise<void> {
    this.performer.perform(this.queue, GENEROUS, attempt);
    await this.time.advance(0);
  }

  sent(): string[] {
    return this.http.calls.map(({ body }) => Buffer.from(body).toString());
  }
}
