/** Random bodies: every answer matches the OpenAPI document, and none is an internal error. */
import { expect } from 'chai';
import fc from 'fast-check';
import { repetitions } from '../../support/depth.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

/** Values that a field might well have, from right to absurd. */
const VALUE = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, '', 'true', 0, -1, 20, 1e21, 0.5, [], {}, '__proto__', 'global', 'payg'),
  fc.constantFrom<unknown>('eu-west-1', 'us-east-1', 'free', 'admin', 'owner@example.com', ['us-west-1'], ['10.0.0.1']),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.integer(),
  fc.jsonValue({ maxDepth: 2 }),
);
const FIELDS = [
  ...['database_name', 'name', 'region', 'primary_region', 'read_regions', 'plan', 'budget', 'platform', 'eviction'],
  ...['partitions', 'plan_name', 'auto_upgrade', 'allowed_ips', 'team_name', 'copy_cc', 'team_id', 'member_email'],
  ...['member_role', 'readonly', 'type', 'target_account', 'backup_id', 'database_id', 'msgq_id', 'target_team_id'],
];
const BODY = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...FIELDS), VALUE, { minKeys: 1, maxKeys: 12 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

describe('management API: random bodies', () => {
  const face = standOfAllTests(() => new ManagementHarness().start());

  it('get a documented answer on every route', async () => {
    const database = await face.newDatabase();
    const index = await face.newSearchIndex();
    const team = await face.newTeam();
    const ids: Record<string, string> = { kv: database, search: index, msgq: face.queue, teams: team };
    // Operations that delete would remove the objects that the other calls need.
    const changing = face.documented.filter((name) => /^(POST|PATCH)/.test(name) || name === 'DELETE /v2/teams/member');
    for (const name of changing) {
      const [method = '', path = ''] = name.split(' ');
      const target = path.replaceAll(/\{\w+\}/g, ids[path.split('/')[2] as string] ?? team);
      await fc.assert(
        fc.asyncProperty(BODY, async (body) => {
          const { status, json, misfits, text } = await face.call(method, target, { body });
          expect(misfits, `${name} ${text}`).to.deep.equal([]);
          expect([200, 400, 403, 404], `${name} ${text}`).to.include(status);
          if (status !== 200) expect(json).to.have.property('error').that.is.a('string').and.is.not.empty;
        }),
        { numRuns: repetitions(25, 5) },
      );
    }
    expect(face.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('that are not JSON get 400', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (body) => {
        const { status, misfits } = await face.call('POST', '/v2/search', { body });
        expect(status).to.equal(400);
        expect(misfits).to.deep.equal([]);
      }),
      { numRuns: repetitions(100) },
    );
  });
});
