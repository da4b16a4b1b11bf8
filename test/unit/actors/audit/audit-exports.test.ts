/** Exports of the audit log to a URL: each note once, in order. Proves AXR1, AXR2, AXR3, AXM1. */
import { expect } from 'chai';
import { AuditExporter } from '../../../../src/actors/audit/index.js';
import { NodeRandom } from '../../../../src/adapters/node/index.js';
import { ControlState, DEFAULT_ACCOUNT_LIMITS, evolve } from '../../../../src/domain/control/index.js';
import type { QueueCommandOf, QueueReply, SequencedCall } from '../../../../src/domain/queue/index.js';
import type { AccountId } from '../../../../src/kernel/index.js';
import { type LogPage, UNWATCHED } from '../../../../src/ports/index.js';
import { CONTROL_SHARD } from '../../../../src/protocol/index.js';
import { ACCOUNT, INSTALLED } from '../../../spec/control/given.js';
import { AuditJournal, auditNote, NOON_MS } from '../../../support/audit-journal.js';
import { eventually } from '../../../support/eventually.js';
import { MemoryLog } from '../../../support/kv-endpoint.js';
import { realTime } from '../../../support/real-time.js';

const URL = 'https://a.example/audit';
const OTHER = 'ac-ottootto22222222' as AccountId;

/** Accepts each sequence once, as the queue's engine does. */
class Queue {
  readonly accepted: SequencedCall[] = [];
  sequence = 0;
  /** The process ends after the queue has accepted the messages, before it has the answer. */
  losesAnswers = false;
  refusal: string | undefined;
  /** The first message is accepted by the queue, and not by the address. */
  undelivered: { createdAtMs: number; retried: number } | undefined;

  async ask(_account: AccountId, command: QueueCommandOf<'TakeOutbox' | 'ListMessages'>): Promise<QueueReply> {
    if (command.type === 'ListMessages') {
      expect(command.filter).to.deep.equal({ queueName: ['audit-export'], label: ['millrace-audit'] });
      const messages = this.undelivered === undefined ? [] : [{ ...this.undelivered, id: 'msg_1' }];
      return { type: 'Messages', messages, counts: [], after: undefined } as object as QueueReply;
    }
    const { records, upTo = 0 } = command;
    if (records.length > 0 && this.refusal !== undefined) {
      return { type: 'Rejected', reason: 'TOO_MANY', message: this.refusal } as QueueReply;
    }
    for (const record of records) {
      if (record.sequence <= this.sequence) continue;
      this.accepted.push(record);
      this.sequence = record.sequence;
    }
    this.sequence = Math.max(this.sequence, upTo);
    if (records.length > 0 && this.losesAnswers) throw new Error('no answer');
    return { type: 'OutboxTaken', sequence: this.sequence };
  }

  get items() {
    return this.accepted.flatMap(({ call }) => (call.kind === 'publish' ? [call.item] : []));
  }

  get entities(): string[] {
    const lines = this.items.flatMap(({ body }) => Buffer.from(body).toString('utf8').split('\n').slice(0, -1));
    return lines.map((line) => (JSON.parse(line) as { entity: string }).entity);
  }
}

describe('the export of the audit log to a URL', () => {
  let control: AuditJournal;
  let queue: Queue;
  let log: MemoryLog;
  let state: ControlState;
  const exporters: AuditExporter[] = [];

  beforeEach(() => {
    [control, queue, log, state] = [new AuditJournal(), new Queue(), new MemoryLog(), new ControlState()];
    for (const event of INSTALLED) evolve(state, event);
    exportFrom(0);
  });
  afterEach(() => {
    for (const exporter of exporters.splice(0)) exporter.stop();
  });

  function exportFrom(position: number): void {
    evolve(state, { type: 'AuditExportSet', account: ACCOUNT, url: URL, position, atMs: NOON_MS });
  }

  function start(): AuditExporter {
    const terms = { state: 'active', limits: DEFAULT_ACCOUNT_LIMITS, centsPer100kMessages: 0 } as const;
    const exporter = new AuditExporter({
      journal: control.journal,
      queue: queue as never,
      messageLog: {
        events: async (_queue, { filter: { messageId } }) => {
          const events = messageId?.map((id) => ({ error: `HTTP status 500 of ${id}` }));
          return { events, cursor: undefined } as object as LogPage;
        },
      },
      accounts: { termsOf: () => terms },
      destinations: { refusalOf: (url) => (url.includes('10.0.0.1') ? 'the address is private' : undefined) },
      random: new NodeRandom(),
      clock: realTime,
      timers: realTime,
      log,
      metrics: UNWATCHED,
      state: () => state,
      isOwner: () => true,
    });
    exporters.push(exporter);
    exporter.look();
    return exporter;
  }

  const untilAccepted = (...numbers: number[]) =>
    eventually(() => expect(queue.entities).to.deep.equal(numbers.map((number) => `database-${number}`)));

  it('sends the notes of the account, from the position of the export on, as JSON lines to a queue of one message at a time', async () => {
    await control.append(auditNote(1));
    exportFrom(2);
    await control.append(auditNote(2), auditNote(3, { account: OTHER }), auditNote(4));
    await control.append(auditNote(5));
    start();
    await untilAccepted(2, 4, 5);
    const [item] = queue.items;
    expect(item).to.include({ queueName: 'audit-export' });
    expect(item?.destination).to.include({ kind: 'url', url: URL });
  });

  it('continues without a repetition when the answer of the queue is lost and another process continues', async () => {
    await control.append(auditNote(1), auditNote(2));
    await control.append(auditNote(3));
    queue.losesAnswers = true;
    const first = start();
    await untilAccepted(1, 2, 3);
    first.stop();
    queue.losesAnswers = false;
    await control.append(auditNote(4));
    start();
    await untilAccepted(1, 2, 3, 4);
    expect(new Set(queue.items.map(({ id }) => id)).size).to.equal(3);
  });

  it('divides an entry of many notes into the same messages each time, and continues within it', async () => {
    const long = 'x'.repeat(256);
    const texts = { actor: long, source: long, secondaryEntity: long, thirdEntity: long };
    await control.append(...Array.from({ length: 120 }, (_, at) => auditNote(at + 1, texts)));
    const numbers = Array.from({ length: 120 }, (_, at) => at + 1);
    const first = start();
    await untilAccepted(...numbers);
    first.stop();
    const whole = queue.items.map(({ id, body }) => `${id} ${body.length}`);
    expect(whole.length).to.be.greaterThan(2);
    const [{ sequence }] = queue.accepted as [SequencedCall];
    queue.accepted.splice(1);
    queue.sequence = sequence;
    start();
    await untilAccepted(...numbers);
    expect(queue.items.map(({ id, body }) => `${id} ${body.length}`)).to.deep.equal(whole);
  });

  it('waits while the account refuses, reports the lag and the problem, and then sends', async () => {
    await control.append(auditNote(1, { atMs: Date.now() - 60_000 }));
    queue.refusal = 'the account is full';
    const exporter = start();
    await eventually(() => expect(log.lines.map(({ event }) => event)).to.deep.equal(['audit-export.not-sent']));
    const { auditExports } = state;
    const one = auditExports.get(ACCOUNT);
    if (one === undefined) throw new Error('no export');
    const waiting = await exporter.lagOf(one);
    expect(waiting.lagMs).to.be.within(60_000, 600_000);
    expect(waiting).to.include({ position: 0, undeliveredMs: 0 });
    expect(waiting.problem).to.match(/the account is full/);
    queue.refusal = undefined;
    await untilAccepted(1);
    const done = { lagMs: 0, position: 2, undeliveredMs: 0, problem: undefined };
    await eventually(async () => expect(await exporter.lagOf(one)).to.deep.equal(done));
    expect(exporter.refusalOf(ACCOUNT, 'https://10.0.0.1/')).to.match(/the address is private/);
    expect(exporter.refusalOf(ACCOUNT, 'name-of-a-group')).to.match(/invalid scheme/);
  });

  it('reports the age and the last error of a message that the address has not acknowledged', async () => {
    await control.append(auditNote(1));
    const exporter = start();
    await untilAccepted(1);
    const one = { account: ACCOUNT, url: URL, position: 0 };
    queue.undelivered = { createdAtMs: Date.now() - 60_000, retried: 0 };
    const fresh = await exporter.lagOf(one);
    expect(fresh.undeliveredMs).to.be.within(60_000, 600_000);
    expect(fresh.problem).to.equal(undefined);
    queue.undelivered.retried = 1;
    expect((await exporter.lagOf(one)).problem).to.equal('HTTP status 500 of msg_1');
  });

  it('reports notes that the journal has removed, and continues with the next', async () => {
    for (let number = 1; number <= 3; number += 1) await control.append(auditNote(number));
    await control.journal.truncateFront(CONTROL_SHARD, 4);
    start();
    await untilAccepted(3);
    expect(log.lines.map(({ event }) => event)).to.deep.equal(['audit-export.gap']);
  });

  it('ends with the export', async () => {
    await control.append(auditNote(1));
    const exporter = start();
    await untilAccepted(1);
    evolve(state, { type: 'AuditExportSet', account: ACCOUNT, url: '', position: 0, atMs: NOON_MS });
    exporter.look();
    await control.append(auditNote(2));
    exportFrom(3);
    exporter.look();
    await control.append(auditNote(3));
    await untilAccepted(1, 3);
  });
});
