/** Answers of the management API to read-only keys. */
import { expect } from 'chai';
import { type Caller, ManagementHarness } from '../../support/management-endpoint.js';

const MASK = '********';

type Shown = Record<string, unknown>;

describe('a read-only management key', () => {
  let face: ManagementHarness;
  let reader: Caller;

  async function started(readOnlyKeysSeeSecrets: boolean): Promise<void> {
    face = await new ManagementHarness({ readOnlyKeysSeeSecrets }).start();
    reader = await face.readOnlyKey();
    await made('/v2/kv/database', { database_name: 'one', region: 'global', primary_region: 'eu-west-1' });
    await made('/v2/search', { name: 'papers', region: 'us-central1', type: 'free' });
  }

  async function made(path: string, body: object): Promise<void> {
    expect((await face.call('POST', path, { body })).status, path).to.equal(200);
  }

  const seen = async (path: string, as: Caller) => (await face.call('GET', path, { as })).json as Shown | Shown[];
  const first = async (path: string, as: Caller) => ((await seen(path, as)) as Shown[])[0] as Shown;

  afterEach(() => face.stop());

  it('sees masked secrets, and read-only tokens, of databases, queues and indexes', async () => {
    await started(false);
    const lists = [
      {
        list: '/v2/kv/databases',
        one: '/v2/kv/database/',
        id: 'database_id',
        writing: ['password', 'rest_token'],
        reading: 'read_only_rest_token',
      },
      {
        list: '/v2/msgq/users',
        one: '/v2/msgq/user/',
        id: 'id',
        writing: ['password', 'token'],
        reading: 'read_only_token',
      },
      { list: '/v2/search', one: '/v2/search/', id: 'id', writing: ['token'], reading: 'read_only_token' },
    ] as const;
    for (const { list, one, id, writing, reading } of lists) {
      const whole = await first(list, face.owner);
      const masked = { ...whole, ...Object.fromEntries(writing.map((field) => [field, MASK])) };
      for (const field of [...writing, reading])
        expect(whole[field], field).to.be.a('string').with.length.above(MASK.length);
      expect(await first(list, reader), list).to.deep.equal(masked);
      expect(await seen(`${one}${whole[id]}`, reader), one).to.deep.equal(masked);
    }
    expect(await seen('/v2/msgq/user', reader)).to.include({ token: MASK, password: MASK });
    const { database_id: id } = await first('/v2/kv/databases', reader);
    expect(await seen(`/v2/kv/database/${id}?credentials=hide`, reader)).to.not.have.any.keys('password', 'rest_token');
  });

  it('finds no password or writing token in any GET answer', async () => {
    await started(false);
    const database = await first('/v2/kv/databases', face.owner);
    const queue = await first('/v2/msgq/users', face.owner);
    const index = await first('/v2/search', face.owner);
    const secrets = [database.password, database.rest_token, queue.password, queue.token, index.token].map(String);
    for (const [path, operations] of Object.entries(face.document.paths)) {
      if (!Object.hasOwn(operations, 'get')) continue;
      for (const id of [database.database_id, queue.id, index.id]) {
        const { text } = await face.call('GET', path.replace(/\{\w+\}/g, String(id)), { as: reader });
        for (const secret of secrets) expect(text, path).to.not.contain(secret);
      }
    }
  });

  it('of a team sees the secrets of the team masked', async () => {
    await started(false);
    const { json } = await face.call('POST', '/v2/team', { body: { team_name: 'crew', copy_cc: false } });
    const { team_id: team } = json as { team_id: string };
    const writer = await face.newKey(face.owner, 'writes', { team_id: team });
    const looks = await face.newKey(face.owner, 'looks', { team_id: team, readonly: true });
    const body = { database_name: 'theirs', region: 'global', primary_region: 'eu-west-1' };
    expect((await face.call('POST', '/v2/kv/database', { as: writer, body })).status).to.equal(200);
    const shown = await first('/v2/kv/databases', looks);
    expect(shown).to.include({ database_name: 'theirs', password: MASK, rest_token: MASK });
    expect(shown.read_only_rest_token).to.equal((await first('/v2/kv/databases', writer)).read_only_rest_token);
  });

  it('sees all secrets with MILLRACE_READ_ONLY_KEYS_SEE_SECRETS=true', async () => {
    await started(true);
    for (const list of ['/v2/kv/databases', '/v2/msgq/users', '/v2/search']) {
      expect(await first(list, reader), list).to.deep.equal(await first(list, face.owner));
    }
  });
});
