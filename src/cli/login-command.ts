/**
 * `millrace login` and `logout`: a session of a person at an identity provider, for commands of the management API. The
 * person confirms a code in any browser (RFC 8628), so the command also works on a machine without one. The session is in
 * a private file of the user.
 */
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../adapters/node/index.js';
import type { Environment } from '../config/index.js';
import { RefusedCommand } from './command-line.js';
import { Api, bearer, RefusedAnswer } from './dev/api.js';
import { type ParsedArguments, shown } from './parser.js';

/** The contents of the file. */
interface Login {
  /** Of the management API. */
  readonly url: string;
  readonly session: string;
  readonly sessionId: string;
  readonly email: string;
  /** An ISO time. */
  readonly until: string;
}

interface Begun {
  readonly device: string;
  readonly user_code: string;
  readonly url: string;
  readonly interval_ms: number;
}

interface Ended {
  readonly pending?: boolean;
  readonly session: string;
  readonly session_id: string;
  readonly until: string;
  readonly email: string;
}

export interface LoginDeps {
  readonly file: string;
  pause(ms: number): Promise<void>;
  write(text: string): void;
}

/** The file with the session, below the user's directory for settings. */
export function loginFile(env: Environment): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'millrace', 'login.json');
}

/** Undefined: no session is stored, or it has ended. @throws RefusedCommand for a damaged file */
export async function currentLogin(file: string, nowMs: number): Promise<Login | undefined> {
  const found = await readFileIfThere(file);
  if (found === undefined) return undefined;
  try {
    const login = JSON.parse(found.toString('utf8')) as Login;
    return Date.parse(login.until) > nowMs ? login : undefined;
  } catch {
    throw new RefusedCommand(`${file} cannot be read: run millrace logout, then millrace login`);
  }
}

/** @returns the exit code. @throws RefusedCommand, RefusedAnswer */
export async function loginCommand(asked: ParsedArguments, deps: LoginDeps): Promise<0> {
  const url = (asked.words[0] as string).replace(/\/+$/, '');
  const provider = await providerOf(url, asked.options.provider);
  const signIn = new Api(`${url}/console/api/sign-in/${provider}`);
  const begun = (await signIn.ask('POST', '/device', {})) as Begun;
  deps.write(
    shown(
      asked,
      { url: begun.url, code: begun.user_code },
      () => `Open ${begun.url} and confirm the code ${begun.user_code}.\n`,
    ),
  );
  for (;;) {
    await deps.pause(begun.interval_ms);
    const ended = (await signIn.ask('POST', '/device/session', { device: begun.device })) as Ended;
    if (ended.pending === true) continue;
    const { session, session_id: sessionId, email, until } = ended;
    const login: Login = { url, session, sessionId, email, until };
    await ensureDirectory(dirname(deps.file));
    await writeFileAtomic(deps.file, `${JSON.stringify(login)}\n`, PRIVATE_FILE);
    deps.write(shown(asked, { email, until }, () => `Signed in as ${email} until ${until}.\n`));
    return 0;
  }
}

/** Ends the session at the server, and removes the file in any case. @returns the exit code */
export async function logoutCommand(asked: ParsedArguments, { file, write }: LoginDeps, nowMs: number): Promise<0> {
  const login = await currentLogin(file, nowMs).catch(() => undefined);
  await rm(file, { force: true });
  if (login === undefined) {
    write(shown(asked, { signedOut: false }, () => 'No session was stored.\n'));
    return 0;
  }
  await endSession(login);
  write(shown(asked, { signedOut: true }, () => `Signed out of ${login.url}.\n`));
  return 0;
}

async function endSession({ url, session, sessionId }: Login): Promise<void> {
  try {
    await new Api(url, bearer(session)).ask('DELETE', `/v2/sessions/${sessionId}`);
  } catch (error) {
    // The session has ended already.
    if (!(error instanceof RefusedAnswer && (error.status === 401 || error.status === 404))) throw error;
  }
}

/** @throws RefusedCommand unless the installation has the named provider, or one provider alone */
async function providerOf(url: string, named: string | undefined): Promise<string> {
  const { providers = [] } = (await new Api(url).ask('GET', '/console/api/session')) as {
    readonly providers?: readonly { readonly name: string }[];
  };
  const names = providers.map(({ name }) => name);
  if (names.length === 0) throw new RefusedCommand(`${url} has no identity provider (MILLRACE_SIGN_IN_PROVIDERS)`);
  const [only] = names;
  if (named === undefined && names.length === 1) return only as string;
  if (named !== undefined && names.includes(named)) return named;
  throw new RefusedCommand(`give --provider with one of ${names.join(', ')}`);
}
