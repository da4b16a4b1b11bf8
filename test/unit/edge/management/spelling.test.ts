/** The alias spelling of the management API: paths, fields, tiers. */
import { expect } from 'chai';
import { ManagementSpellings } from '../../../../src/edge/wire-alias.js';

const ACME = { headerWord: 'Acme', queueWord: 'AcmeQ', kvWord: 'store', partnerWord: 'host' };

describe('management spellings', () => {
  const spellings = new ManagementSpellings([ACME]);
  const alias = spellings.of('/v2/acmeq/users', {}).fields;
  const neutral = spellings.of('/v2/msgq/users', {}).fields;

  it('convert paths to neutral ones', () => {
    const path = (from: string) => spellings.of(from, {}).path;
    expect(path('/v2/store/database/x')).to.equal('/v2/kv/database/x');
    expect(path('/v2/acmeq/stats/x')).to.equal('/v2/msgq/stats/x');
    for (const same of ['/v2/kv/databases', '/v2/search', '/v2/storeroom/x', '/v2/store', '/auditlogs']) {
      expect(path(same)).to.equal(same);
    }
  });

  it('convert fields of bodies to neutral ones, and prefer the neutral one where both are given', () => {
    expect(alias.neutral({ acmeq_id: 1, other: 2 })).to.deep.equal({ msgq_id: 1, other: 2 });
    expect(alias.neutral({ acmeq_id: 1, msgq_id: 2 })).to.deep.equal({ msgq_id: 2 });
    expect(neutral.neutral({ acmeq_id: 1 })).to.deep.equal({ acmeq_id: 1 });
    for (const body of [undefined, null, 7, 'text', [1]]) expect(alias.neutral(body)).to.deep.equal(body);
  });

  it('convert names of tiers only in fields of tiers', () => {
    expect(alias.neutral({ plan_name: 'acmeq_fixed_1m', name: 'acmeq_fixed_1m' })).to.deep.equal({
      plan_name: 'msgq_fixed_1m',
      name: 'acmeq_fixed_1m',
    });
    expect(alias.spelled({ reserved_type: 'msgq_fixed_1m', name: 'msgq_fixed_1m' })).to.deep.equal({
      reserved_type: 'acmeq_fixed_1m',
      name: 'msgq_fixed_1m',
    });
  });

  it('convert answers, lists of them, and texts', () => {
    expect(alias.spelled([{ daily_msgq_messages: [] }])).to.deep.equal([{ daily_acmeq_messages: [] }]);
    expect(alias.spelled({ partner_email: '' })).to.deep.equal({ host_email: '' });
    expect(alias.spelled('OK')).to.equal('OK');
    expect(alias.text('msgq_id: is required')).to.equal('acmeq_id: is required');
  });

  it('give the e-mail of a hosting partner both names, where the spelling is unknown', () => {
    const { fields } = spellings.of('/v2/search', {});
    expect(fields.spelled({ partner_email: '', daily_msgq_messages: 1 })).to.deep.equal({
      partner_email: '',
      host_email: '',
      daily_msgq_messages: 1,
    });
    expect(
      spellings.of('/v2/search', { 'acme-telemetry-sdk': '1' }).fields.spelled({ partner_email: '' }),
    ).to.deep.equal({
      host_email: '',
    });
  });

  it('change no name without an alias', () => {
    const { path, fields } = new ManagementSpellings([]).of('/v2/store/databases', { 'acme-x': '1' });
    expect(path).to.equal('/v2/store/databases');
    const answer = { partner_email: '', reserved_type: 'msgq_fixed_1m' };
    expect(fields.spelled(answer)).to.equal(answer);
    expect(fields.neutral(answer)).to.equal(answer);
  });

  it('do not rename the partner in an alias without a partner word', () => {
    const { fields } = new ManagementSpellings([{ ...ACME, partnerWord: undefined }]).of('/v2/store/x', {});
    expect(fields.spelled({ partner_email: '' })).to.deep.equal({ partner_email: '' });
  });
});
