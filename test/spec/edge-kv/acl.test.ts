/** Access control over REST: the ACL family, and the rights of users. */
import { expect } from 'chai';
import { AclStand, STAND_DATABASE, STAND_PASSWORD } from '../../support/acl-stand.js';
import { KvEndpointHarness, READ_ONLY_TOKEN } from '../../support/kv-endpoint.js';

const USER_TOKEN = 'token-of-alice';

/** A REST endpoint with the grants of the stand. */
async function faceOf(stand: AclStand): Promise<KvEndpointHarness> {
  const face = new KvEndpointHarness({
    users: stand.commands,
    access: {
      grantFor: (token) => {
        const partitions = ['kv:db-test:0' as never];
        if (token === READ_ONLY_TOKEN) return { ...stand.grant(), role: 'read-only', user: 'default_ro', partitions };
        return { ...stand.grant(token === USER_TOKEN ? 'alice' : 'default'), partitions };
      },
    },
  });
  return face.start();
}

describe('edge/kv: access control', () => {
  let stand: AclStand;
  let face: KvEndpointHarness;
  beforeEach(async () => {
    stand = await new AclStand().start();
    face = await faceOf(stand);
  });
  afterEach(() => face.stop());

  const acl = async (...words: string[]) => {
    const answer = await face.post('/', ['ACL', ...words]);
    return JSON.parse(answer.text) as { result?: unknown; error?: string };
  };

  it('ACL SETUSER refuses a clear password below the minimum length, and accepts any digest', async () => {
    const strict = await new AclStand(12).start();
    const other = await faceOf(strict);
    const set = async (...rules: string[]) => (await other.post('/', ['ACL', 'SETUSER', 'alice', 'on', ...rules])).text;
    const refusal = JSON.stringify({
      error: 'ERR A password must not be shorter than 12 characters (MILLRACE_SECRET_MIN_CHARACTERS)',
    });
    expect(await set('>elevenchars')).to.equal(refusal);
    expect(await set('>twelve-chars', '>elevenchars', '+get'), 'all or nothing').to.equal(refusal);
    expect(await set('>')).to.equal(refusal);
    expect(strict.admin.user(STAND_DATABASE, 'alice')).to.equal(undefined);
    expect(await set('>twelve-chars', `#${strict.admin.hashOf('pw')}`)).to.equal('{"result":"OK"}');
    expect(await set('<pw', 'nopass')).to.equal('{"result":"OK"}');
    await other.stop();
  });

  it('ACL SETUSER, GETUSER, LIST and DELUSER create, show, list and delete users', async () => {
    expect(await acl('SETUSER', 'alice', 'on', '>pw', '~a*', '+get')).to.deep.equal({ result: 'OK' });
    const hash = stand.admin.hashOf('pw');
    expect(await acl('GETUSER', 'alice')).to.deep.equal({
      result: [
        ...['flags', ['on', 'sanitize-payload'], 'passwords', [hash], 'commands', '-@all +get'],
        ...['keys', '~a*', 'channels', ''],
      ],
    });
    expect(await acl('USERS')).to.deep.equal({ result: ['alice', 'default', 'default_ro'] });
    const { result } = await acl('LIST');
    expect((result as string[])[0]).to.equal(`user alice on sanitize-payload #${hash} ~a* resetchannels -@all +get`);
    expect(await acl('DELUSER', 'alice', 'nobody')).to.deep.equal({ result: 1 });
    expect(await acl('GETUSER', 'alice')).to.deep.equal({ result: null });
  });

  it('ACL WHOAMI, LOAD, SAVE, CAT, GENPASS and LOG answer without a user', async () => {
    expect(await acl('WHOAMI')).to.deep.equal({ result: 'default' });
    for (const name of ['LOAD', 'SAVE']) expect(await acl(name)).to.deep.equal({ result: 'OK' });
    expect((await acl('CAT')).result).to.include('json');
    expect((await acl('GENPASS', '8')).result).to.match(/^[0-9a-f]{2}$/);
    await face.get('/set/a/1', { token: READ_ONLY_TOKEN });
    expect(await acl('LOG')).to.deep.equal({ result: [] });
    expect(await acl('LOG', 'RESET')).to.deep.equal({ result: 'OK' });
  });

  it('ACL RESTTOKEN answers a token for the right password, and an error for a wrong one', async () => {
    expect((await acl('RESTTOKEN', 'default', STAND_PASSWORD)).result).to.match(/^mru_/);
    expect(await acl('RESTTOKEN', 'alice', 'pw')).to.deep.equal({
      error: 'ERR Wrong password or user "alice" does not exist',
    });
  });

  it('a user is limited to the commands, keys and channels of its rules', async () => {
    await acl('SETUSER', 'alice', 'on', '>pw', '~a*', '+get', '+set');
    const asAlice = { token: USER_TOKEN };
    const may = 'NOPERM this user has no permissions to';
    expect((await face.get('/set/a1/x', asAlice)).text).to.equal('{"result":"OK"}');
    expect(JSON.parse((await face.get('/get/b1', asAlice)).text)).to.deep.equal({
      error: `${may} access one of the keys used as arguments`,
    });
    expect(JSON.parse((await face.get('/del/a1', asAlice)).text)).to.deep.equal({
      error: `${may} run the 'del' command or its subcommand`,
    });
    expect(JSON.parse((await face.get('/acl/whoami', asAlice)).text)).to.deep.equal({
      error: `${may} run the 'acl' command or its subcommand`,
    });
    const pipeline = await face.post(
      '/pipeline',
      [
        ['GET', 'a1'],
        ['GET', 'b1'],
        ['GET', 'a2'],
      ],
      asAlice,
    );
    expect(JSON.parse(pipeline.text).map((item: object) => Object.keys(item)[0])).to.deep.equal([
      'result',
      'error',
      'result',
    ]);
  });

  it('a pipeline with ACL commands keeps the order of its answers', async () => {
    const answer = await face.post('/pipeline', [
      ['ACL', 'WHOAMI'],
      ['SET', 'k', 'v'],
      ['ACL', 'GETUSER', 'nobody'],
      ['GET', 'k'],
    ]);
    expect(JSON.parse(answer.text)).to.deep.equal([
      { result: 'default' },
      { result: 'OK' },
      { result: null },
      { result: 'v' },
    ]);
  });

  it('a transaction with an ACL command is discarded', async () => {
    const answer = await face.post('/multi-exec', [
      ['SET', 'k', 'v'],
      ['ACL', 'WHOAMI'],
    ]);
    expect([answer.status, answer.text]).to.deep.equal([
      400,
      '{"error":"ERR ACL commands are not allowed in a transaction"}',
    ]);
    expect((await face.get('/get/k')).text).to.equal('{"result":null}');
  });

  it('the owner of the partition receives the rules for scripts', async () => {
    await acl('SETUSER', 'alice', 'on', '>pw', '~a*', '+get');
    await face.get('/get/a', { token: USER_TOKEN });
    await face.get('/get/a');
    const [ofUser, ofDefault] = face.gateway.requests.slice(-2);
    expect(ofUser?.client).to.deep.include({ face: 'rest', user: 'alice', rules: stand.grant('alice').rules });
    expect(ofDefault?.client).to.equal(undefined);
  });

  it('ACL commands count against the daily limit', async () => {
    face.quotaLeft = 1;
    const answer = await face.post('/pipeline', [
      ['ACL', 'WHOAMI'],
      ['ACL', 'WHOAMI'],
    ]);
    expect(JSON.parse(answer.text)).to.deep.equal([
      { result: 'default' },
      { error: 'ERR max daily request limit exceeded' },
    ]);
  });
});

describe('edge: ACL LOG', () => {
  it('shows denied commands of all connections, the latest first, and counts repetitions', async () => {
    const stand = await new AclStand().start();
    const { commands, control } = stand;
    await stand.run(['ACL', 'SETUSER', 'alice', 'on', '~a', '+get']);
    const denied = await stand.run(['GET', 'b'], 'alice');
    for (let i = 0; i < 3; i += 1) commands.noteDenied(STAND_DATABASE, denied as never, 'id=1');
    control.nowMs += 2500;
    commands.noteFailedLogin(STAND_DATABASE, 'bob', 'AUTH');
    const entries = ((await stand.run(['ACL', 'LOG'])) as unknown as { items: unknown[] }[]).map(({ items }) => items);
    expect(entries).to.have.length(2);
    expect(entries[0]?.slice(0, 10)).to.deep.equal([
      ...['count', 1, 'reason', 'auth', 'context', 'toplevel', 'object', 'AUTH', 'username', 'bob'],
    ]);
    expect(entries[1]?.slice(0, 10)).to.deep.equal([
      ...['count', 3, 'reason', 'key', 'context', 'toplevel', 'object', 'b', 'username', 'alice'],
    ]);
    expect(entries[1]?.[11]).to.have.property('value', 2.5);
    expect(await stand.run(['ACL', 'LOG', '1'])).to.have.length(1);
    await stand.run(['ACL', 'LOG', 'RESET']);
    expect(await stand.run(['ACL', 'LOG'])).to.deep.equal([]);
  });

  it('keeps the latest 128 entries', async () => {
    const stand = await new AclStand().start();
    for (let i = 0; i <= 128; i += 1) stand.commands.noteFailedLogin(STAND_DATABASE, `u${i}`, 'AUTH');
    const all = (await stand.run(['ACL', 'LOG', '1000'])) as unknown as { items: unknown[] }[];
    expect(all).to.have.length(128);
    expect(all.at(-1)?.items[9]).to.equal('u1');
  });
});
