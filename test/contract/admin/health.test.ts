/** The findings that need attention: from the cluster, from this process, and from the caller's DLQ entries. */
import { expect } from 'chai';
import { LATE_SECONDS, VERIFY_DUE_MS } from '../../../src/edge/admin/admin-limits.js';
import { MillraceError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import type { Caller } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';
import { AdminStand, EMPTY_CLUSTER } from './admin-stand.js';

interface Health {
  readonly isWell: boolean;
  readonly attention: readonly { about: string; level: string; text: string }[];
  readonly metrics: object;
  readonly processes: readonly object[];
  readonly verified: { time: string; isFine: boolean } | null;
}
const NOT_VERIFIED = 'this process has not verified the journals recently';

describe('GET /v2/admin/health', () => {
  const stand = standOfAllTests(() => new AdminStand().start());
  beforeEach(() => {
    Object.assign(stand, { clusterStatus: EMPTY_CLUSTER, readings: {}, isDiskFull: false });
    Object.assign(stand.messageLog, { failure: undefined, dead: { counts: {}, isWhole: true } });
  });

  const health = async (as?: Caller) => {
    const { status, json, misfits } = await stand.call('GET', '/v2/admin/health', { as: as ?? stand.owner });
    expect([status, misfits]).to.deep.equal([200, []]);
    return json as Health;
  };
  const problems = async () =>
    (await health()).attention
      .filter(({ level }) => level !== 'notice')
      .map(({ about, level, text }) => [about, level, text]);
  const verify = async (texts: readonly string[], path = '/v2/admin/verify') => {
    stand.audit.texts = texts;
    const stream = await stand.open(path);
    await eventually(() => expect(stream.isEnded).to.equal(true));
  };

  it('reports a healthy installation, also to read-only keys', async () => {
    const { isWell, attention, verified } = await health(await stand.readOnlyKey());
    expect([isWell, attention.map(({ text }) => text), verified]).to.deep.equal([true, [NOT_VERIFIED], null]);
  });

  it('lists the alarms of the cluster first, and its processes', async () => {
    const processes = [{ process: 'p1' as never, state: 'ready', isDrained: false, ownedShards: 1 }] as const;
    stand.clusterStatus = { ...EMPTY_CLUSTER, alarms: ['nats-1 stores nothing'], processes };
    stand.isDiskFull = true;
    const { isWell, attention, processes: shown } = await health();
    expect(isWell).to.equal(false);
    expect(attention[0]).to.deep.equal({ about: 'cluster', level: 'error', text: 'nats-1 stores nothing' });
    expect(attention[1]).to.include({ about: 'disk', level: 'error' });
    expect(shown).to.deep.equal(processes);
  });

  it('reports an old copy at the place of backups, and the cause of the last failure', async () => {
    stand.copy = { place: 's3://backups/one', ageMs: 600_000, fullAgeMs: 900_000, failure: 'no connection' };
    const { isWell, attention } = await health();
    stand.copy = undefined;
    expect(isWell).to.equal(false);
    expect(attention.filter(({ about }) => about === 'backups')).to.deep.equal([
      { about: 'backups', level: 'error', text: 'the copy at s3://backups/one is 10 minutes old' },
      { about: 'backups', level: 'warning', text: 'copying to s3://backups/one failed: no connection' },
    ]);
  });

  it('warns about late queues and read models, and nearly full memory, from the limit on', async () => {
    stand.readings = {
      millrace_queue_lag_seconds: { QUEUE_0: LATE_SECONDS - 1 },
      millrace_read_model_behind_seconds: LATE_SECONDS - 1,
      millrace_data_bytes: 89,
      millrace_data_limit_bytes: 100,
    };
    expect(await problems()).to.deep.equal([]);
    stand.readings = {
      millrace_queue_lag_seconds: { QUEUE_0: 0, QUEUE_1: LATE_SECONDS },
      millrace_read_model_behind_seconds: LATE_SECONDS,
      millrace_data_bytes: 90,
      millrace_data_limit_bytes: 100,
      millrace_journal_excess_bytes: 1,
    };
    expect((await problems()).map(([about, level]) => [about, level])).to.deep.equal([
      ['disk', 'warning'],
      ['memory', 'warning'],
      ['queue', 'warning'],
      ['read models', 'warning'],
    ]);
    expect((await health()).metrics).to.deep.equal(stand.readings);
  });

  it('counts recently failed messages, and says when it cannot count them', async () => {
    stand.messageLog.dead = { counts: { 500: 2, 0: 1 }, isWhole: false };
    expect(await problems()).to.deep.equal([
      ['queue', 'warning', 'at least 3 messages have failed within the last hour'],
    ]);
    stand.messageLog.failure = new MillraceError('SHARD_UNAVAILABLE', 'nobody');
    expect(await problems()).to.deep.equal([
      ['queue', 'warning', 'dead letters cannot be counted: no read model answers'],
    ]);
  });

  it('shows the last verification of all journals, and when the next one is due', async () => {
    await verify(['{"done":{"isFine":true}}'], `/v2/admin/queues/${stand.queue}/verify`);
    expect((await health()).verified).to.equal(null);
    await verify(['{"done":{"isFine":true}}']);
    const { attention, verified } = await health();
    expect([attention, verified?.isFine]).to.deep.equal([[], true]);
    stand.control.nowMs += VERIFY_DUE_MS;
    expect((await health()).attention.map(({ text }) => text)).to.deep.equal([NOT_VERIFIED]);
    await verify(['{"done":{"isFine":false}}']);
    expect(await problems()).to.deep.equal([['proof', 'error', 'the journals are damaged: see the report']]);
  });

  it('answers 403 to people of other accounts', async () => {
    const { caller } = await stand.newPerson('stranger@example.com');
    expect((await stand.call('GET', '/v2/admin/health', { as: caller })).status).to.equal(403);
  });
});
