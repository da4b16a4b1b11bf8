/** Rights of roles. Proves RGT1, RGT2, RGT3. */
import { expect } from 'chai';
import {
  ALL_RIGHTS,
  type AssignedRole,
  BUILT_IN_ROLES,
  isBuiltInRole,
  RoleRights,
  shownRole,
} from '../../../src/domain/control/index.js';

const OWN: Readonly<Record<string, readonly string[]>> = { support: ['queues:read', 'queues:use', 'account:read'] };
const lookUp = (name: string) => (isBuiltInRole(name) ? BUILT_IN_ROLES[name] : (OWN[name] ?? []));
const rights = (held: readonly AssignedRole[], limit?: readonly AssignedRole[]) =>
  new RoleRights(held, lookUp, limit && new RoleRights(limit, lookUp));

describe('the rights of roles', () => {
  it('are those of the table in the pages, for the built-in roles', () => {
    const on = (verb: string) => ['databases', 'queues', 'indexes'].map((kind) => `${kind}:${verb}`);
    const viewer = [...on('read'), ...on('use'), 'account:read'];
    const developer = [...viewer, ...on('change'), 'alerts:change'];
    const billing = [...on('read'), 'account:read', 'billing:change'];
    expect(BUILT_IN_ROLES.viewer).to.have.members(viewer);
    expect(BUILT_IN_ROLES.developer).to.have.members(developer);
    expect(BUILT_IN_ROLES.operator).to.have.members([...developer, 'operation:read', 'operation:change']);
    expect(BUILT_IN_ROLES.billing).to.have.members(billing);
    expect(BUILT_IN_ROLES.owner).to.deep.equal(ALL_RIGHTS);
    expect(BUILT_IN_ROLES.admin).to.have.members(ALL_RIGHTS.filter((right) => right !== 'account:change'));
    const former = [BUILT_IN_ROLES.dev, BUILT_IN_ROLES.finance];
    expect(former).to.deep.equal([BUILT_IN_ROLES.developer, BUILT_IN_ROLES.billing]);
  });

  it('are added together', () => {
    const both = rights([{ role: 'billing' }, { role: 'support' }]);
    expect(both.has('billing:change')).to.equal(true);
    expect(both.has('queues:use')).to.equal(true);
    expect(both.has('databases:use')).to.equal(false);
    expect(rights([{ role: 'gone' }]).whole()).to.deep.equal([]);
  });

  it('apply to one resource where the role is for one, without the rights on the account', () => {
    const one = rights([{ role: 'developer', on: 'orders' }]);
    expect(one.has('databases:change', 'orders')).to.equal(true);
    expect(one.has('databases:change', 'others')).to.equal(false);
    expect(one.has('databases:change')).to.equal(false);
    expect(one.hasSome('databases:change')).to.equal(true);
    expect(one.has('account:read')).to.equal(false);
    expect(one.has('alerts:change', 'orders')).to.equal(false);
  });

  it('are limited by the role of a key, which cannot make keys', () => {
    const key = rights([{ role: 'dev' }], [{ role: 'admin' }]);
    expect(key.has('databases:change')).to.equal(true);
    expect(key.has('members:change')).to.equal(false);
    expect([key.has('self:read'), key.has('self:change')]).to.deep.equal([true, false]);
    expect(rights([{ role: 'dev' }]).has('self:change')).to.equal(true);
    const one = rights([{ role: 'owner' }], [{ role: 'viewer', on: 'orders' }]);
    expect(one.has('databases:use', 'orders')).to.equal(true);
    expect(one.has('databases:use')).to.equal(false);
    expect(one.hasSome('databases:use')).to.equal(true);
    expect(rights([{ role: 'owner' }], [{ role: 'gone' }]).some()).to.deep.equal([]);
  });

  it('are shown by the strongest role for the whole account', () => {
    expect(shownRole([{ role: 'support' }, { role: 'viewer' }, { role: 'dev' }])).to.equal('dev');
    expect(shownRole([{ role: 'owner', on: 'orders' }, { role: 'support' }])).to.equal('support');
    expect(shownRole([{ role: 'viewer', on: 'orders' }])).to.equal('viewer');
  });
});
