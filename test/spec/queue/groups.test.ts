/** URL groups: what callers may do with them, and what is refused. Proves GR1–GR4. */
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

  it('are made by their first endpoints, and keep their order', () => {
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

  it('know when they were made and when they changed', () => {
    parts.group(upsert('all', [A]));
    const madeAtMs = parts.nowMs;
    parts.nowMs += 5000;
    parts.group(upsert('all', [B]));
    expect(parts.theGroup('all')).to.include({ createdAtMs: madeAtMs, updatedAtMs: madeAtMs + 5000 });
  });

  it('replace the endpoint of the same name where it stands, else the one of the same url', () => {
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

  it('keep the name of an endpoint that is put in again without one', () => {
    parts.group(upsert('all', [A, 'one']));
    expect(recorded(() => parts.group(upsert('all', [A])))).to.equal(0);
    expect(endpointsOf('all')).to.deep.equal([[A, 'one']]);
  });

  it('never have two endpoints of one url or one name', () => {
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

  it('lose endpoints by url, by name, or by both', () => {
    parts.group(upsert('all', [A, 'one'], [B, 'two'], [C, 'three']));
    const remove = (url: string | undefined, name: string | undefined) =>
      parts.group({ type: 'RemoveEndpoints', group: 'all', endpoints: [{ url, name }] });
    expect(remove(A, undefined)).to.deep.equal(DONE);
    expect(recorded(() => remove(B, 'three'))).to.equal(0);
    expect(remove(undefined, 'two')).to.deep.equal(DONE);
    expect(endpointsOf('all')).to.deep.equal([[C, 'three']]);
    refuses(remove(undefined, undefined), 'INVALID', 'neither url nor name');
  });

  it('go with their last endpoint', () => {
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

  it('that are missing have no endpoints to remove and no defaults to set, but are deleted without complaint', () => {
    const rows = [{ url: A, name: undefined }];
    refuses(parts.group({ type: 'RemoveEndpoints', group: 'none', endpoints: rows }), 'NOT_FOUND', 'none');
    refuses(parts.group({ type: 'SetGroupDefaults', group: 'none', defaults: [] }), 'NOT_FOUND', 'none');
    expect(parts.group({ type: 'DeleteGroup', group: 'none' })).to.deep.equal(DONE);
    expect(parts.journal).to.deep.equal([]);
  });

  it('have defaults that are replaced as a set, and stay when endpoints change', () => {
    parts.group(upsert('all', [A]));
    const set = (...defaults: [string, string][]) => parts.group({ type: 'SetGroupDefaults', group: 'all', defaults });
    set(['svc-retries', '5'], ['svc-delay', '1m']);
    set(['svc-retries', '2']);
    parts.group(upsert('all', [B]));
    parts.group({ type: 'RemoveEndpoints', group: 'all', endpoints: [{ url: A, name: undefined }] });
    expect(parts.theGroup('all').defaults).to.deep.equal([['svc-retries', '2']]);
    expect(recorded(() => set(['svc-retries', '2']))).to.equal(0);
  });

  it('take no defaults that no publish could have', () => {
    parts.group(upsert('all', [A]));
    const set = (name: string, value: string) =>
      parts.group({ type: 'SetGroupDefaults', group: 'all', defaults: [[name, value]] });
    refuses(set('svc-retries', 'many'), 'INVALID', 'svc-retries');
    refuses(set('svc-callback', 'nowhere'), 'INVALID', 'callback');
    const many = Array.from({ length: 129 }, (_, at) => [`svc-forward-x${at}`, 'y'] as const);
    refuses(parts.group({ type: 'SetGroupDefaults', group: 'all', defaults: many }), 'INVALID', '128');
    expect(parts.theGroup('all').defaults).to.deep.equal([]);
  });

  it('have names of letters, digits and - _ . up to 128 characters, and absolute urls', () => {
    refuses(parts.group(upsert('a b', [A])), 'INVALID', 'url group name');
    refuses(parts.group(upsert('x'.repeat(129), [A])), 'INVALID', '128');
    refuses(parts.group(upsert('all', [A, 'a/b'])), 'INVALID', 'endpoint name');
    refuses(parts.group(upsert('all', ['nowhere'])), 'INVALID', 'invalid endpoint url');
    refuses(parts.group(upsert('all')), 'INVALID', 'at least one endpoint');
    expect(parts.group(upsert('x'.repeat(128), [A, 'A-b_c.9']))).to.deep.equal(DONE);
    expect(parts.journal).to.have.length(1);
  });

  it('are as many, with as many endpoints, as the account may have', () => {
    parts.limit({ maxGroups: 1, maxEndpointsPerGroup: 2 });
    parts.group(upsert('one', [A], [B]));
    refuses(parts.group(upsert('two', [A])), 'TOO_MANY', 'quota maxGroups exceeded, current limit: 1');
    refuses(parts.group(upsert('one', [C])), 'TOO_MANY', 'quota maxEndpointsPerGroup exceeded, current limit: 2');
    expect(parts.group(upsert('one', [A, 'named']))).to.deep.equal(DONE);
  });

  it('above a limit that was lowered may change, and not grow', () => {
    parts.group(upsert('one', [A], [B]));
    parts.limit({ maxGroups: 0, maxEndpointsPerGroup: 1 });
    expect(parts.group(upsert('one', [B, 'named']))).to.deep.equal(DONE);
    refuses(parts.group(upsert('one', [C])), 'TOO_MANY', 'maxEndpointsPerGroup');
  });

  it('are the same again from the journal, and from a snapshot', () => {
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

  it('of ten thousand endpoints change in a moment', () => {
    parts.limit({ maxEndpointsPerGroup: 20_000 });
    const many = Array.from({ length: 10_000 }, (_, at) => [`https://h${at}.example/`, `n${at}`] as const);
    parts.group(upsert('all', ...many));
    parts.group(upsert('all', ...many.map(([, name], at) => [`https://g${at}.example/`, name] as const)));
    expect(parts.theGroup('all').endpoints).to.have.length(10_000);
    expect(parts.theGroup('all').endpoints[9_999]).to.deep.equal({ url: 'https://g9999.example/', name: 'n9999' });
  });
});
