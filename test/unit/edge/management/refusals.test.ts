/** Refusals of the control actor, and failures on the way, in the answers of the management API. */
import { expect } from 'chai';
import { controlRefusal, managementRefusalOf } from '../../../../src/edge/error-map.js';
import { ERROR_CODES, type ErrorCode, MillraceError } from '../../../../src/kernel/index.js';

const STATUSES = [400, 401, 403, 404, 405, 406, 413, 429, 500, 503];

describe('management: refusals', () => {
  it('name the kind of an unknown resource, and not its internal id', () => {
    for (const [reason, text] of [
      ['UNKNOWN_DATABASE', 'database not found'],
      ['UNKNOWN_SEARCH_INDEX', 'search index not found'],
      ['UNKNOWN_TEAM', 'team not found'],
      ['UNKNOWN_BACKUP', 'backup not found'],
      ['UNKNOWN_KEY', 'API key not found'],
    ] as const) {
      expect(controlRefusal(reason, 'there is none with db-aaaaaaaaaaaaaaaa')).to.deep.equal({ status: 404, text });
    }
  });

  it('give the reason of an impossible change', () => {
    for (const reason of ['TOO_MANY', 'CONFLICTS', 'BAD_VALUE', 'BAD_NAME', 'NAME_TAKEN'] as const) {
      expect(controlRefusal(reason, 'because')).to.deep.equal({ status: 400, text: 'because' });
    }
  });

  it('have a documented status for every failure', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const { status, text } = managementRefusalOf(new MillraceError(code, 'inside'));
      expect(STATUSES, code).to.include(status);
      expect(text, code)
        .to.be.a('string')
        .and.not.match(/inside|queue|^ERR/);
    }
    expect(managementRefusalOf(new Error('inside'))).to.include({ status: 500, text: 'internal error' });
  });
});
