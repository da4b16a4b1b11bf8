/** URL groups: their commands and refusals. Proves GR1–GR4. */
import { expect } from 'chai';
import type { QueueReply } from '../../../src/domain/queue/index.js';
import { QueueParts, upsert } from '../../support/queue-parts.js';

const DONE: QueueReply = { type: 'Done' };
const A = 'https://a.example/';
const B = 'https://b.example/';
const C = 'https://c.example/';

describe('url groups', () => {
  let parts: QueueParts;
  const endpointsOf = (group: string) => parts.theGroup(group).endpoints.map(({ url, name }) => [url, name]);
  const refuses = (reply: QueueReply, reason: string, text: string) => {
    expect(reply).to.include({ type: 'Rejected', reason });
    expect(reply).to.have.property('message').that.contains(text);
  };
  const recorded = (act: () => void): number => {
    const before = parts.journal.length;
    act();
    return parts.journal.length - before;
  };

  beforeEach(() => {
    parts = new QueueParts();
  });

  it('UpsertEndpoints creates a group, and keeps the order of endpoints', () => {
    expect(parts.group(upsert('all', [B, 'second'], [A]))).to.deep.equal(DONE);
    expect(endpointsOf('all')).to.deep.equal([
      [B, 'second'],
      [A, undefined],
    ]);
    expect(parts.group({ type: 'GetGroup', group: 'all' })).to.deep.equal({
      type: 'Groups',
      groups: [parts.theGroup('all')],
    });
  });

  it('a group has the times of its creation and of its last change', () => {
    parts.group(upsert('all', [A]));
    const madeAtMs = parts.nowMs;
    parts.nowMs += 5000;
    parts.group(upsert('all', [B]));
    expect(parts.theGroup('all')).to.include({ createdAtMs: madeAtMs, updatedAtMs: madeAtMs + 5000 });
  });

  it('UpsertEndpoints replaces the endpoint with the same name in its place, else the one with the same URL', () => {
    parts.group(upsert('all', [A, 'one'], [B, 'two']));
    parts.group(upsert('all', [C, 'one']));
    expect(endpointsOf('all')).to.deep.equal([
      [C, 'one'],
      [B, 'two'],
    ]);
    parts.group(upsert('all', [B, 'zwei']));
    expect(endpointsOf('all')).to.deep.equal([
      [C, 'one'],
      [B, 'zwei'],
    ]);
  });

  it("UpsertEndpoints without a name keeps the endpoint's name", () => {
    parts.group(upsert('all', [A, 'one']));
    expect(recorded(() => parts.group(upsert('all', [A])))).to.equal(0);
    expect(endpointsOf('all')).to.deep.equal([[A, 'one']]);
  });

  it('no two endpoints of a group have the same URL or name', () => {
    parts.group(upsert('all', [A, 'one'], [B, 'two'], [C]));
    parts.group(upsert('all', [B, 'one']));
    expect(endpointsOf('all')).to.deep.equal([
      [B, 'one'],
      [C, undefined],
    ]);
    parts.group(upsert('all', [A, 'x'], [A, 'y'], [B, 'y']));
    expect(endpointsOf('all')).to.deep.equal([
      [C, undefined],
      [B, 'y'],
    ]);
  });

  it('RemoveEndpoints removes by URL, by name, or by both', () => {
    parts.group(upsert('all', [A, 'one'], [B, 'two'], [C, 'three']));
    const remove = (url: string | undefined, name: string | undefined) =>
      parts.group({ type: 'RemoveEndpoints', group: 'all', endpoints: [{ url, name }] });
    expect(remove(A, undefined)).to.deep.equal(DONE);
    expect(recorded(() => remove(B, 'three'))).to.equal(0);
    expect(remove(undefined, 'two')).to.deep.equal(DONE);
    expect(endpointsOf('all')).to.deep.equal([[C, 'three']]);
    refuses(remove(undefined, undefined), 'INVALID', 'neither url nor name');
  });

  it('RemoveEndpoints of the last endpoint removes the group', () => {
    parts.group(upsert('all', [A], [B]));
    parts.group({
      type: 'RemoveEndpoints',
      group: 'all',
      endpoints: [
        { url: A, name: undefined },
        { url: B, name: undefined },
      ],
    });
    refuses(parts.group({ type: 'GetGroup', group: 'all' }), 'NOT_FOUND', 'url group all not found');
    expect(parts.groups.size).to.equal(0);
  });

  it('RemoveEndpoints and SetGroupDefaults are refused for an unknown group, and DeleteGroup succeeds', () => {
    const rows = [{ url: A, name: undefined }];
    refuses(parts.group({ type: 'RemoveEndpoints', group: 'none', endpoints: rows }), 'NOT_FOUND', 'none');
    refuses(parts.group({ type: 'SetGroupDefaults', group: 'none', defaults: [] }), 'NOT_FOUND', 'none');
    expect(parts.group({ type: 'DeleteGroup', group: 'none' })).to.deep.equal(DONE);
    expect(parts.journal).to.deep.equal([]);
  });

  it('SetGroupDefaults replaces all defaults, and they stay when endpoints change', () => {
    parts.group(upsert('all', [A]));
    const set = (...defaults: [string, string][]) => parts.group({ type: 'SetGroupDefaults', group: 'all', defaults });
    set(['svc-retries', '5'], ['svc-delay', '1m']);
    set(['svc-retries', '2']);
    parts.group(upsert('all', [B]));
    parts.group({ type: 'RemoveEndpoints', group: 'all', endpoints: [{ url: A, name: undefined }] });
    expect(parts.theGroup('all').defaults).to.deep.equal([['svc-retries', '2']]);
    expect(recorded(() => set(['svc-retries', '2']))).to.equal(0);
  });

  it('SetGroupDefaults refuses defaults that no publish could have', () => {
    parts.group(upsert('all', [A]));
    const set = (name: string, value: string) =>
      parts.group({ type: 'SetGroupDefaults', group: 'all', defaults: [[name, value]] });
    refuses(set('svc-retries', 'many'), 'INVALID', 'svc-retries');
    refuses(set('svc-callback', 'nowhere'), 'INVALID', 'callback');
    const many = Array.from({ length: 129 }, (_, at) => [`svc-forward-x${at}`, 'y'] as const);
    refuses(parts.group({ type: 'SetGroupDefaults', group: 'all', defaults: many }), 'INVALID', '128');
    expect(parts.theGroup('all').defaults).to.deep.equal([]);
  });

  it('a group name has up to 128 letters, digits and - _ . characters, and endpoint URLs are absolute', () => {
    refuses(parts.group(upsert('a b', [A])), 'INVALID', 'url group name');
    refuses(parts.group(upsert('x'.repeat(129), [A])), 'INVALID', '128');
    refuses(parts.group(upsert('all', [A, 'a/b'])), 'INVALID', 'endpoint name');
    refuses(parts.group(upsert('all', ['nowhere'])), 'INVALID', 'invalid endpoint url');
    refuses(parts.group(upsert('all')), 'INVALID', 'at least one endpoint');
    expect(parts.group(upsert('x'.repeat(128), [A, 'A-b_c.9']))).to.deep.equal(DONE);
    expect(parts.journal).to.have.length(1);
  });

  it('UpsertEndpoints is refused above maxGroups and maxEndpointsPerGroup', () => {
    parts.limit({ maxGroups: 1, maxEndpointsPerGroup: 2 });
    parts.group(upsert('one', [A], [B]));
    refuses(parts.group(upsert('two', [A])), 'TOO_MANY', 'quota maxGroups exceeded, current limit: 1');
    refuses(parts.group(upsert('one', [C])), 'TOO_MANY', 'quota maxEndpointsPerGroup exceeded, current limit: 2');
    expect(parts.group(upsert('one', [A, 'named']))).to.deep.equal(DONE);
  });

  it('a group above a lowered limit may change, but not grow', () => {
    parts.group(upsert('one', [A], [B]));
    parts.limit({ maxGroups: 0, maxEndpointsPerGroup: 1 });
    expect(parts.group(upsert('one', [B, 'named']))).to.deep.equal(DONE);
    refuses(parts.group(upsert('one', [C])), 'TOO_MANY', 'maxEndpointsPerGroup');
  });

  it('groups are equal after a replay and from a snapshot', () => {
    parts.group(upsert('one', [A, 'a'], [B]));
    parts.nowMs += 1;
    parts.group(upsert('two', [C]));
    parts.group({ type: 'SetGroupDefaults', group: 'two', defaults: [['svc-retries', '1']] });
    parts.group({ type: 'DeleteGroup', group: 'one' });
    parts.nowMs += 1;
    parts.group(upsert('three', [A]));
    const list = { type: 'ListGroups' } as const;
    const live = parts.group(list);
    expect(live).to.have.property('groups').with.length(2);
    expect(parts.successor().group(list)).to.deep.equal(live);
    expect(parts.fromSnapshot().group(list)).to.deep.equal(live);
  });

  it('a group of ten thousand endpoints changes quickly', () => {
    parts.limit({ maxEndpointsPerGroup: 20_000 });
    const many = Array.from({ length: 10_000 }, (_, at) => [`https://h${at}.example/`, `n${at}`] as const);
    parts.group(upsert('all', ...many));
    parts.group(upsert('all', ...many.map(([, name], at) => [`https://g${at}.example/`, name] as const)));
    expect(parts.theGroup('all').endpoints).to.have.length(10_000);
    expect(parts.theGroup('all').endpoints[9_999]).to.deep.equal({ url: 'https://g9999.example/', name: 'n9999' });
  });
});
