/** Proves RCR1. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { permissionsOf } from '../../../src/domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../../src/kernel/index.js';
import type { KvGrant } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { RespEndpointHarness } from '../../support/resp-endpoint.js';

/** @param words as ACL SETUSER takes them */
const grantWith = (words: string): KvGrant => grantOf(words.replaceAll(' ', '\n'));

const grantOf = (rules: string): KvGrant => ({
  database: 'db-first' as DatabaseId,
  partitions: ['kv:db-first:0' as PartitionName],
  role: 'standard',
  user: 'alice',
  permissions: permissionsOf(rules, 'alice'),
  rules,
  limits: { maxCommandBytes: 1_000_000, maxRequestsPerDay: 0 },
});

describe('RESP: permissions', () => {
  let face: RespEndpointHarness;
  let current: KvGrant | undefined;
  beforeEach(async () => {
    current = grantWith('~a* &news +get +set +multi +exec +subscribe +client|id');
    face = await new RespEndpointHarness({
      limits: { sweepEveryMs: 10 },
      access: {
        grantForLogin: () => current,
        isCurrent: (grant) => grant === current,
        renewed: () => current,
      },
    }).start();
  });
  afterEach(() => face.stop());

  it('limit commands, keys and channels', async () => {
    const client = await face.client(2, 'any');
    expect(await client.call('SET', 'a1', '1')).to.equal('+OK\r\n');
    expect(await client.call('SET', 'b1', '1')).to.match(/^-NOPERM .*key/);
    expect(await client.call('DEL', 'a1')).to.match(/^-NOPERM .*'del'/);
    expect(await client.call('CLIENT', 'ID')).to.match(/^:/);
    expect(await client.call('CLIENT', 'LIST')).to.match(/^-NOPERM .*'client\|list'/);
    expect(await client.call('SUBSCRIBE', 'other')).to.match(/^-NOPERM .*channel/);
    expect(await client.call('SUBSCRIBE', 'news')).to.match(/^\*3/);
    expect(face.owner.requests.every(({ client: who }) => who?.rules === current?.rules)).to.equal(true);
  });

  it('are the current ones, on open connections and in transactions', async () => {
    const client = await face.client(2, 'any');
    await client.call('MULTI');
    expect(await client.call('GET', 'a1')).to.equal('+QUEUED\r\n');
    expect(await client.call('SET', 'a1', '1')).to.equal('+QUEUED\r\n');
    current = grantWith('~a* +set +exec');
    expect(await client.call('EXEC')).to.match(/^\*2\r\n-NOPERM .*'get'.*\r\n\+OK\r\n$/);
    expect(await client.call('GET', 'a1')).to.match(/^-NOPERM/);
  });

  it('end the connection with their user', async () => {
    const client = await face.client(2, 'any');
    current = undefined;
    await client.closed();
    await eventually(() => expect(face.server.connections).to.equal(0));
  });
});

/** Subscriptions and registrations of clients, and the rules that end them. */
const LISTENERS: readonly (readonly [title: string, said: string, before: string, after: string])[] = [
  ['a channel', 'SUBSCRIBE news other', '&news &other +@all', '&other +@all'],
  ['a channel, by a command', 'SUBSCRIBE news', '&news +@all', '&news +@all -subscribe'],
  ['a pattern', 'PSUBSCRIBE n*', '&n* +@all', '&ne* +@all'],
  ['a pattern that the rules do not contain literally', 'PSUBSCRIBE n*', '&* +@all', '&n?* +@all'],
  ['a shard channel', 'SSUBSCRIBE news', '&news +@all', '+@all'],
  ['all commands', 'MONITOR', '~* &* +@all -flushall', '~* &* +@all -monitor'],
  ['keys that were read', 'CLIENT TRACKING on', '~a* ~b* +@all', '~a* +@all'],
  ['changed keys', 'CLIENT TRACKING on BCAST', '~* +@all -flushall', '~a* +@all -flushall'],
  ['changed keys of a prefix', 'CLIENT TRACKING on BCAST PREFIX a', '~a* +@all', '~b* +@all'],
  ['changed keys, by a command', 'CLIENT TRACKING on', '~a* +@all', '~a* +@all -client|tracking'],
];
/** Rules that keep all of these rights. */
const PARDONED: typeof LISTENERS = [
  ['a channel', 'SUBSCRIBE news', '&news &other +@all', '&n* +@all'],
  ['a pattern', 'PSUBSCRIBE n*', '&n* +@all', '&n* +@all -get'],
  ['a pattern with the right to all channels', 'PSUBSCRIBE n*', '&n* +@all', '~* &* +@all'],
  ['all commands', 'MONITOR', '~* &* +@all -flushall', '~* &* +@all -flushdb'],
  ['keys that were read', 'CLIENT TRACKING on', '~a* +@all', '~b* ~a* +@all'],
  ['changed keys', 'CLIENT TRACKING on BCAST', '~a* +@all', '~* +@all -flushall'],
];

describe('RESP: listening clients', () => {
  let face: RespEndpointHarness;
  let current: KvGrant;
  async function begin(sweepEveryMs: number): Promise<void> {
    const access = {
      grantForLogin: () => current,
      isCurrent: (grant: KvGrant) => grant === current,
      renewed: () => current,
    };
    face = await new RespEndpointHarness({ limits: { sweepEveryMs }, access }).start();
  }
  afterEach(() => face.stop());

  for (const [title, said, before, after] of LISTENERS) {
    it(`stop with the right to ${title}: ${after}`, async () => {
      await begin(10);
      current = grantWith(before);
      const client = await face.client(3, 'any');
      expect(await client.call(...said.split(' '))).not.to.match(/^-/);
      current = grantWith(after);
      await client.closed();
      await eventually(() => expect(face.owner.ownerOf('kv:db-first:0').listeners.size).to.equal(0));
    });
  }

  it('stop with the right to a key that they wait for', async () => {
    await begin(10);
    current = grantWith('~a* ~b* +@all');
    const [both, one] = await Promise.all([1, 2].map(() => face.client(3, 'any')));
    both!.send(encodeCommand(['BLPOP', 'a', 'b', '0']));
    one!.send(encodeCommand(['BLPOP', 'a', '0']));
    await eventually(() => expect(face.owner.ownerOf('kv:db-first:0').waiters).to.have.length(2));
    current = grantWith('~a* +@all');
    await both!.closed();
    await eventually(() => expect(face.owner.ownerOf('kv:db-first:0').waiters).to.have.length(1));
    const other = await face.client(3, 'any');
    await other.call('RPUSH', 'a', 'x');
    expect(await one!.next()).to.equal('*2\r\n$1\r\na\r\n$1\r\nx\r\n');
  });

  for (const [title, said, before, after] of PARDONED) {
    it(`continue for ${title} while it is allowed: ${after}`, async () => {
      await begin(10);
      current = grantWith(before);
      const client = await face.client(3, 'any');
      expect(await client.call(...said.split(' '))).not.to.match(/^-/);
      current = grantWith(after);
      expect(await client.call('PING')).to.equal('+PONG\r\n');
      expect(face.owner.ownerOf('kv:db-first:0').listeners.size).to.be.greaterThan(0);
    });
  }

  it('receive no event from after a change of their rules', async () => {
    await begin(60_000);
    current = grantWith('&news &other ~* +@all -flushall');
    const [news, tracker, monitor] = await Promise.all([1, 2, 3].map(() => face.client(3, 'any')));
    await news!.call('SUBSCRIBE', 'news');
    await tracker!.call('CLIENT', 'TRACKING', 'on', 'BCAST');
    await monitor!.call('MONITOR');
    current = grantWith('&other ~a* +@all -monitor');
    const speaker = await face.client(3, 'any');
    const owner = face.owner.ownerOf('kv:db-first:0');
    owner.tell(({ kind }) => kind === 'channel', { type: 'message', channel: 'news', payload: 'secret' });
    owner.tell(({ kind }) => kind === 'monitor', { type: 'monitor', line: 'secret' });
    await speaker.call('SET', 'a1', 'x');
    for (const client of [news, tracker, monitor]) {
      await client!.closed();
      expect(client!.unread).to.deep.equal([]);
    }
    expect(await speaker.call('GET', 'a1')).to.equal('$1\r\nx\r\n');
  });

  it('do not start when the right is removed before the confirmation', async () => {
    await begin(60_000);
    current = grantWith('&news +@all');
    const client = await face.client(3, 'any');
    let goOn: () => void = () => {};
    face.owner.subscribing = new Promise((resolve) => (goOn = resolve));
    client.send(encodeCommand(['SUBSCRIBE', 'news']));
    await eventually(() => expect(face.owner.ownerOf('kv:db-first:0').listeners.size).to.equal(1));
    current = grantWith('+@all');
    goOn();
    await client.closed();
    expect(client.unread).to.deep.equal([]);
    expect(face.owner.ownerOf('kv:db-first:0').listeners.size).to.equal(0);
  });
});
