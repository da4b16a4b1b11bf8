/** Proves MBX1–MBX3. */
import { expect } from 'chai';
import { Mailbox, type Work } from '../../../src/actors/runtime/index.js';

const LIMITS = { maxWorks: 4, maxBytes: 100, quantum: 128 };

function work(tenant: string, bytes = 10, commands = 1): Work {
  return {
    tenant,
    bytes,
    commands,
    deadlineMs: Number.POSITIVE_INFINITY,
    hasBegun: false,
    enteredAtMs: 0,
    waitsForTurn: 0,
    hasWritten: false,
    release: () => {},
    reject: () => {},
  };
}

/** Takes works until the mailbox is empty, each whole; the names of their tenants in order. */
function order(mailbox: Mailbox<Work>): string {
  let tenants = '';
  for (let next = mailbox.next(); next !== undefined; next = mailbox.next()) {
    tenants += next.tenant;
    mailbox.spend(next, next.commands, next.bytes, true);
  }
  return tenants;
}

describe('mailbox', () => {
  it('returns the works of one tenant in the order of arrival', () => {
    const mailbox = new Mailbox<Work>({ ...LIMITS, maxWorks: 10 });
    const works = [work('a', 1), work('a', 2), work('a', 3)];
    for (const item of works) mailbox.push(item);
    const taken: Work[] = [];
    for (let next = mailbox.next(); next !== undefined; next = mailbox.next()) {
      taken.push(next);
      mailbox.spend(next, 1, next.bytes, true);
    }
    expect(taken).to.deep.equal(works);
  });

  it('refuses the first work above its count', () => {
    const mailbox = new Mailbox<Work>(LIMITS);
    for (const tenant of 'abcd') expect(mailbox.push(work(tenant, 1))).to.equal(true);
    expect(mailbox.push(work('e', 1))).to.equal(false);
    expect(mailbox.size).to.equal(LIMITS.maxWorks);
  });

  it('refuses the first byte above its size', () => {
    const mailbox = new Mailbox<Work>(LIMITS);
    expect(mailbox.push(work('a', 60))).to.equal(true);
    expect(mailbox.push(work('b', 41))).to.equal(false);
    expect(mailbox.push(work('b', 40))).to.equal(true);
    expect(mailbox.bytes).to.equal(100);
  });

  it('has room for others when one tenant holds three quarters of it', () => {
    const mailbox = new Mailbox<Work>(LIMITS);
    for (let i = 0; i < 3; i += 1) expect(mailbox.push(work('a', 1))).to.equal(true);
    expect(mailbox.push(work('a', 1)), 'works').to.equal(false);
    expect(mailbox.push(work('b', 70))).to.equal(true);
    mailbox.clear();
    expect(mailbox.push(work('a', 70))).to.equal(true);
    expect(mailbox.push(work('a', 6)), 'bytes').to.equal(false);
    expect(mailbox.push(work('a', 5))).to.equal(true);
    expect(mailbox.push(work('b', 25))).to.equal(true);
  });

  it('accepts a work larger than the bound when it is empty', () => {
    const mailbox = new Mailbox<Work>(LIMITS);
    expect(mailbox.push(work('a', 1000))).to.equal(true);
    expect(mailbox.push(work('b', 1))).to.equal(false);
  });

  it('has room again once works have left', () => {
    const mailbox = new Mailbox<Work>(LIMITS);
    for (let i = 0; i < 3; i += 1) mailbox.push(work('a', 25));
    expect(order(mailbox)).to.equal('aaa');
    expect([mailbox.size, mailbox.bytes]).to.deep.equal([0, 0]);
    expect(mailbox.push(work('a', 100))).to.equal(true);
  });

  it('gives a late tenant its share while another has many works waiting', () => {
    const mailbox = new Mailbox<Work>({ maxWorks: 1000, maxBytes: 1e6, quantum: 128 });
    for (let i = 0; i < 100; i += 1) mailbox.push(work('a', 64));
    mailbox.push(work('b', 64));
    mailbox.push(work('b', 64));
    expect([...order(mailbox).slice(0, 6)].filter((tenant) => tenant === 'b')).to.have.length(2);
  });

  it('shares by the cost of works, not by their number', () => {
    const mailbox = new Mailbox<Work>({ maxWorks: 1000, maxBytes: 1e7, quantum: 1000 });
    for (let i = 0; i < 50; i += 1) mailbox.push(work('a', 10_000));
    for (let i = 0; i < 50; i += 1) mailbox.push(work('b', 100));
    const first = order(mailbox).slice(0, 56);
    expect([...first].filter((tenant) => tenant === 'b').length).to.be.greaterThan(40);
  });

  it('counts the milliseconds that works hold the loop: a tenant with long works gets as many as one with short works', () => {
    const mailbox = new Mailbox<Work>({ maxWorks: 10_000, maxBytes: 1e7, quantum: 65_536 });
    const msOf = { long: 2, short: 0.05 };
    for (let i = 0; i < 100; i += 1) mailbox.push(work('long'));
    for (let i = 0; i < 1000; i += 1) mailbox.push(work('short'));
    const spentMs = { long: 0, short: 0 };
    while (spentMs.short < 40) {
      const next = mailbox.next() as Work;
      const tenant = next.tenant as 'long' | 'short';
      mailbox.spend(next, 1, next.bytes, true, msOf[tenant]);
      spentMs[tenant] += msOf[tenant];
    }
    expect(spentMs.long).to.be.within(30, 50);
  });

  it('puts a tenant with rare works before one that has overdrawn its share', () => {
    const mailbox = new Mailbox<Work>({ maxWorks: 10_000, maxBytes: 1e7, quantum: 65_536 });
    const flood = work('flood');
    mailbox.push(flood);
    for (let round = 0; round < 20; round += 1) {
      expect(mailbox.next()).to.equal(flood);
      mailbox.spend(flood, 1, 0, false, 2.1);
      mailbox.push(work('now-and-then'));
      const next = mailbox.next() as Work;
      expect(next.tenant).to.equal('now-and-then');
      mailbox.spend(next, 1, next.bytes, true, 0.1);
    }
  });

  it('keeps an unfinished work at the front', () => {
    const mailbox = new Mailbox<Work>(LIMITS);
    const long = work('a', 10, 1000);
    mailbox.push(long);
    mailbox.spend(mailbox.next() as Work, 10, 10, false);
    expect(mailbox.next()).to.equal(long);
  });

  it('removes works that waited too long for a half-done work of their tenant, and no others', () => {
    const mailbox = new Mailbox<Work>({ ...LIMITS, maxWorks: 10 });
    const long = { ...work('a'), isHalfway: true };
    const late = [work('a'), work('a')];
    const begun = { ...work('a'), hasBegun: true };
    const fresh = { ...work('a'), enteredAtMs: 11 };
    const others = [work('b'), work('b')];
    for (const item of [long, ...late, begun, fresh, ...others]) mailbox.push(item);
    expect(mailbox.takeHeldUp(10)).to.deep.equal(late);
    expect([mailbox.size, mailbox.bytes]).to.deep.equal([5, 50]);
    expect(mailbox.takeHeldUp(10)).to.deep.equal([]);
    expect([...mailbox.waiting()]).to.deep.equal([long, begun, fresh, ...others]);
  });

  it('removes works past their waiting time and keeps the others in order', () => {
    const mailbox = new Mailbox<Work>(LIMITS);
    const works = [work('a'), work('b'), work('a')];
    for (const item of works) mailbox.push(item);
    expect(mailbox.removeWhere((item) => item.tenant === 'b')).to.deep.equal([works[1]]);
    expect(order(mailbox)).to.equal('aa');
  });
});
