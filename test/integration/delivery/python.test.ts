/**
 * Receivers in Python accept what is signed here: the published client where pip can get it, else its checks on the
 * token library that it is built on (from pip, else the system's).
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { JwtDeliverySigner } from '../../../src/adapters/http-delivery/index.js';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import type { AccountId } from '../../../src/kernel/index.js';

const run = promisify(execFile);

const CURRENT = 'sig_4xvkVwQ8NpTmAzGyBhRuLcEfDsJo';
const NEXT = 'sig_7WbYtHnKiMqXrPaZeVgCdUjFoSLs';
const URL_CALLED = 'https://a.example/hook?x=1';

/** Reads cases as JSON from a file, prints for each its name and `ok` or the reason. */
const VERIFIER = `
import base64, hashlib, json, sys

def with_library(case):
    import jwt
    last = None
    for key in case["keys"]:
        try:
            claims = jwt.decode(case["token"], key, algorithms=["HS256"], issuer="Upstash",
                                options={"require": ["iss", "sub", "exp", "nbf"]})
            wanted = base64.urlsafe_b64encode(hashlib.sha256(case["body"].encode()).digest()).decode()
            assert claims["sub"] == case["url"], "sub"
            assert isinstance(claims["jti"], str), "jti"
            assert claims["body"].rstrip("=") == wanted.rstrip("="), "body"
            return
        except Exception as problem:
            last = problem
    raise last

def with_client(case):
    from qstash import Receiver
    current, following = case["keys"]
    Receiver(current, following).verify(signature=case["token"], body=case["body"], url=case["url"])

try:
    import qstash
    verify = with_client
except ImportError:
    verify = with_library

for case in json.load(open(sys.argv[1])):
    try:
        verify(case)
        print(case["name"], "ok", sep=": ")
    except Exception as problem:
        print(case["name"], "refused", sep=": ")
`;

interface Case {
  readonly name: string;
  readonly token: string;
  readonly body: string;
  readonly url: string;
  readonly keys: readonly string[];
}

function signed(body: string, { key = CURRENT, nowMs = Date.now() } = {}): string {
  const keys = { signingKeysOf: () => ({ current: key, next: 'sig_unused' }) };
  const signer = new JwtDeliverySigner({ keys, random: new NodeRandom(), aliasIssuer: 'Upstash' });
  const call = { account: 'ac-1' as AccountId, url: URL_CALLED, body: Buffer.from(body), nowMs, isAlias: true };
  return signer.sign(call) as string;
}

describe('a delivery signature and receivers in Python', () => {
  let folder: string;
  let python: string | undefined;

  before(async function () {
    this.timeout(120_000);
    folder = await mkdtemp(join(tmpdir(), 'millrace-python-'));
    await writeFile(join(folder, 'verify.py'), VERIFIER);
    python = await pythonWithTokens(folder);
    if (python === undefined) {
      console.log('      (left out: no Python with a token library, and pip reaches none)');
      this.skip();
    }
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function verdicts(cases: readonly Omit<Case, 'url' | 'keys'>[], url = URL_CALLED): Promise<string[]> {
    const file = join(folder, 'cases.json');
    await writeFile(file, JSON.stringify(cases.map((given) => ({ ...given, url, keys: [CURRENT, NEXT] }))));
    const { stdout } = await run(python as string, [join(folder, 'verify.py'), file]);
    return stdout.trim().split('\n');
  }

  it('agree on bodies, on both keys and on clocks ten seconds apart', async () => {
    const answers = await verdicts([
      { name: 'empty', token: signed(''), body: '' },
      { name: 'unicode', token: signed('caf\u00e9 \u{1f600}'), body: 'caf\u00e9 \u{1f600}' },
      { name: 'next key', token: signed('b', { key: NEXT }), body: 'b' },
      { name: 'our clock ahead', token: signed('b', { nowMs: Date.now() + 10_000 }), body: 'b' },
      { name: 'our clock behind', token: signed('b', { nowMs: Date.now() - 10_000 }), body: 'b' },
    ]);
    expect(answers).to.deep.equal([
      'empty: ok',
      'unicode: ok',
      'next key: ok',
      'our clock ahead: ok',
      'our clock behind: ok',
    ]);
  });

  it('part over body, key, age and a time to come', async () => {
    const answers = await verdicts([
      { name: 'body', token: signed('b'), body: 'c' },
      { name: 'key', token: signed('b', { key: 'sig_other' }), body: 'b' },
      { name: 'age', token: signed('b', { nowMs: Date.now() - 301_000 }), body: 'b' },
      { name: 'to come', token: signed('b', { nowMs: Date.now() + 60_000 }), body: 'b' },
    ]);
    expect(answers).to.deep.equal(['body: refused', 'key: refused', 'age: refused', 'to come: refused']);
    expect(await verdicts([{ name: 'url', token: signed('b'), body: 'b' }], 'https://a.example/')).to.deep.equal([
      'url: refused',
    ]);
  });
});

async function pythonWithTokens(folder: string): Promise<string | undefined> {
  const own = join(folder, 'venv', 'bin', 'python');
  const pip = ['-m', 'pip', 'install', '--quiet', '--retries', '0', '--timeout', '5', '--disable-pip-version-check'];
  const hasVenv = await succeeds('python3', ['-m', 'venv', join(folder, 'venv')]);
  for (const wanted of hasVenv ? ['qstash', 'PyJWT'] : []) {
    if (await succeeds(own, [...pip, wanted])) return own;
  }
  for (const system of ['python3', '/usr/bin/python3']) {
    if (await succeeds(system, ['-c', 'import jwt'])) return system;
  }
  return undefined;
}

function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return run(command, [...args], { timeout: 60_000 }).then(
    () => true,
    () => false,
  );
}
