import { expect } from 'chai';
import fc from 'fast-check';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import type { AccountId, BackupId, DatabaseId } from '../../../src/kernel/index.js';
import {
  accountIdOfUuid,
  backupIdOfUuid,
  databaseIdOfUuid,
  newAccountId,
  newDatabaseId,
  uuidOf,
} from '../../../src/protocol/index.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const base32 = fc.array(fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'), { minLength: 16, maxLength: 16 });
const readers = { 'db-': databaseIdOfUuid, 'ac-': accountIdOfUuid, 'bk-': backupIdOfUuid } as const;
const prefixes = Object.keys(readers) as (keyof typeof readers)[];

describe('public ids', () => {
  it('are UUIDs that map to one id each, and back', () => {
    fc.assert(
      fc.property(base32, fc.constantFrom(...prefixes), (characters, prefix) => {
        const id = `${prefix}${characters.join('')}` as DatabaseId | AccountId | BackupId;
        const uuid = uuidOf(id);
        expect(uuid).to.match(UUID);
        expect(readers[prefix](uuid)).to.equal(id);
        expect(readers[prefix](uuid.toUpperCase())).to.equal(id);
        for (const other of prefixes) if (other !== prefix) expect(readers[other](uuid)).to.equal(undefined);
      }),
    );
  });

  it('exist for generated ids', () => {
    const random = new NodeRandom();
    const [account, database] = [newAccountId(random), newDatabaseId(random)];
    expect(accountIdOfUuid(uuidOf(account))).to.equal(account);
    expect(databaseIdOfUuid(uuidOf(database))).to.equal(database);
  });

  it('never change', () => {
    expect(uuidOf('db-aaaaaaaaaaaaaaaa' as DatabaseId)).to.equal('00000000-0000-8000-80db-000000000000');
    expect(uuidOf('ac-7777777777777777' as AccountId)).to.equal('ffffffff-ffff-8fff-80ac-fffff0000000');
    expect(uuidOf('bk-abcdefghijklmnop' as BackupId)).to.equal('00443214-c742-854b-80b0-635cf0000000');
  });

  it('are refused in any other form', () => {
    const good = uuidOf('db-abcdefghijklmnop' as DatabaseId);
    for (const bad of [
      '',
      'db-abcdefghijklmnop',
      good.slice(1),
      `${good}0`,
      `${good}\n`,
      good.replaceAll('-', ''),
      `${good.slice(0, -1)}1`,
      good.replace(/-8(...)-8/, '-4$1-8'),
      good.replace(/-80db-/, '-90db-'),
      'not-a-uuid-not-a-uuid',
    ]) {
      expect(databaseIdOfUuid(bad), bad).to.equal(undefined);
    }
  });
});
