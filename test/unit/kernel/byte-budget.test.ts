/** Proves BB1–BB5. */
import { expect } from 'chai';
import { ByteBudget, STRANGERS } from '../../../src/kernel/index.js';

const LIMIT = 1000;

describe('byte budget', () => {
  let budget: ByteBudget;
  beforeEach(() => {
    budget = new ByteBudget(LIMIT);
  });

  it('gives one tenant half of the total, and not a byte more', () => {
    const hold = budget.hold('a');
    expect(hold.resize(500)).to.equal(true);
    expect(hold.resize(501)).to.equal(false);
    expect([hold.bytes, budget.usedBytes]).to.deep.equal([500, 500]);
    expect(budget.hasRoom('a')).to.equal(false);
    expect(budget.hasRoom('b')).to.equal(true);
  });

  it('counts all holds of a tenant together', () => {
    const [one, other] = [budget.hold('a'), budget.hold('a')];
    expect(one.resize(400)).to.equal(true);
    expect(other.resize(101)).to.equal(false);
    expect(other.resize(100)).to.equal(true);
    one.release();
    expect(other.resize(500)).to.equal(true);
  });

  it('keeps the last fifth for tenants below an even share', () => {
    const [a, b, c] = [budget.hold('a'), budget.hold('b'), budget.hold('c')];
    expect(a.resize(400)).to.equal(true);
    expect(b.resize(400)).to.equal(true);
    expect(b.resize(401), 'large').to.equal(false);
    expect(c.resize(200), 'small').to.equal(true);
    expect(c.resize(201), 'nothing is left').to.equal(false);
  });

  it('gives connections that have not signed in an eighth', () => {
    const hold = budget.hold(STRANGERS);
    expect(hold.resize(125)).to.equal(true);
    expect(hold.resize(126)).to.equal(false);
  });

  it('counts forced bytes of any number', () => {
    const hold = budget.hold('a');
    hold.force(5000);
    expect([budget.bytesOf('a'), budget.hasRoom('a')]).to.deep.equal([5000, false]);
    expect(hold.resize(4000), 'less is always possible').to.equal(true);
  });

  it('does not charge other tenants for bytes above a share', () => {
    budget.hold('a').force(5000);
    expect(budget.hasRoom('b')).to.equal(true);
    const other = budget.hold('b');
    expect(other.resize(500)).to.equal(true);
    expect(other.resize(501)).to.equal(false);
    expect(budget.usedBytes).to.equal(5500);
  });

  it('moves the bytes of a connection to its tenant', () => {
    const hold = budget.hold(STRANGERS);
    hold.resize(100);
    hold.moveTo('a');
    expect([budget.bytesOf(STRANGERS), budget.bytesOf('a'), budget.usedBytes]).to.deep.equal([0, 100, 100]);
  });

  it('forgets a tenant with its last hold, and releases once', () => {
    const hold = budget.hold('a');
    hold.resize(100);
    hold.release();
    hold.release();
    expect([budget.usedBytes, budget.tenants]).to.deep.equal([0, 0]);
    expect(hold.resize(1), 'nothing is held any more').to.equal(false);
  });
});
