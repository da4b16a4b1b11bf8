/**
 * A receiver in Python: the published client if pip can install it; otherwise the same checks with the token library
 * that the client uses (from pip, or installed on the system).
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program that reads cases as JSON from a file, and prints each name with `ok` or the reason. */
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

export interface SignedCase {
  /** The name, without a colon. */
  readonly name: string;
  readonly token: string;
  readonly body: string;
  readonly url: string;
}

export class PythonReceiver {
  private constructor(
    private readonly python: string,
    private readonly keys: readonly string[],
  ) {}

  /** Undefined if Python has no token library and pip cannot install one. The search takes up to two minutes. */
  static async found(keys: { readonly current: string; readonly next: string }): Promise<PythonReceiver | undefined> {
    foundPython ??= pythonWithTokens();
    const python = await foundPython;
    if (python !== undefined) return new PythonReceiver(python, [keys.current, keys.next]);
    console.log('      (left out: no Python with a token library, and pip reaches none)');
    return undefined;
  }

  /** @returns each name with `ok` or `refused` */
  async verdicts(cases: readonly SignedCase[]): Promise<string[]> {
    const file = join(folder(), 'cases.json');
    await writeFile(file, JSON.stringify(cases.map((given) => ({ ...given, keys: this.keys }))));
    const { stdout } = await run(this.python, ['-c', VERIFIER, file]);
    return stdout.trim().split('\n');
  }
}

/** The search runs once per test process; the installed packages are removed when the process ends. */
let foundPython: Promise<string | undefined> | undefined;
let ownFolder: string | undefined;

function folder(): string {
  if (ownFolder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'millrace-python-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    ownFolder = made;
  }
  return ownFolder;
}

async function pythonWithTokens(): Promise<string | undefined> {
  const own = join(folder(), 'venv', 'bin', 'python');
  const pip = ['-m', 'pip', 'install', '--quiet', '--retries', '0', '--timeout', '5', '--disable-pip-version-check'];
  const hasVenv = await succeeds('python3', ['-m', 'venv', join(folder(), 'venv')]);
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
