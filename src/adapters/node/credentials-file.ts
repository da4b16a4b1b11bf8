/**
 * `<data dir>/credentials.env`: the credentials of the first start, readable by the owner alone. Lines of
 * `VARIABLE=value`, quoted for a shell where needed. With encryption at rest the file has these lines sealed.
 *
 *  CF1 values in the file take precedence over values given later, because they are the valid ones
 *  CF2 the file is written completely, with mode 0600, before its values are used
 */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FirstStartSettings } from '../../config/index.js';
import type { Random } from '../../kernel/index.js';
import type { Sealing } from '../../ports/index.js';
import {
  CREDENTIAL_NAMES,
  CREDENTIAL_VARIABLES,
  completeCredentials,
  type FirstStartCredentials,
  type GivenCredentials,
} from '../../protocol/index.js';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from './files.js';
import { keyIdIn } from './sealing.js';

const HEADING = '# Written by the first start. The secrets in this file give full access: keep it private.\n';
/** Characters that a shell accepts without quotes. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]*$/;

export class CredentialsFile {
  constructor(
    private readonly path: string,
    private readonly given: Partial<GivenCredentials>,
    private readonly random: Random,
    private readonly sealing?: Sealing,
  ) {}

  /** @throws the error of the file system */
  async prepare(): Promise<{ credentials: FirstStartCredentials; isNew: boolean }> {
    const found = await readFileIfThere(this.path);
    const kept = found === undefined ? {} : parse(this.#opened(found.toString('utf8')));
    const credentials = completeCredentials({ ...this.given, ...kept }, this.random);
    const isWhole = CREDENTIAL_NAMES.every((name) => kept[name] !== undefined);
    if (!isWhole) await this.replace(credentials);
    return { credentials, isNew: found === undefined };
  }

  async replace(credentials: FirstStartCredentials): Promise<void> {
    await ensureDirectory(dirname(this.path));
    const text = HEADING + credentialLines(credentials);
    await writeFileAtomic(this.path, this.sealing === undefined ? text : `${this.sealing.seal(text)}\n`, PRIVATE_FILE);
  }

  #opened(text: string): string {
    return this.sealing === undefined || keyIdIn(text) === undefined ? text : this.sealing.open(text.trim());
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

/**
 * One line each, as in the file. @param given omitted, because their source is known and the output may be seen by
 * others
 */
export function credentialLines(credentials: FirstStartCredentials, given: Partial<GivenCredentials> = {}): string {
  return CREDENTIAL_NAMES.filter((name) => given[name] === undefined)
    .map((name) => `${CREDENTIAL_VARIABLES[name]}=${quoted(credentials[name])}\n`)
    .join('');
}

/** The clear texts set by an operator. */
export function givenCredentials(settings: FirstStartSettings): GivenCredentials {
  return {
    kvToken: settings.kvToken?.reveal(),
    kvReadonlyToken: settings.kvReadonlyToken?.reveal(),
    kvPassword: settings.kvPassword?.reveal(),
    queueToken: settings.queueToken?.reveal(),
    queueReadonlyToken: settings.queueReadonlyToken?.reveal(),
    mgmtEmail: settings.mgmtEmail,
    mgmtKey: settings.mgmtKey?.reveal(),
    signingKeyCurrent: settings.signingKeyCurrent?.reveal(),
    signingKeyNext: settings.signingKeyNext?.reveal(),
  };
}

function parse(text: string): Partial<Record<keyof FirstStartCredentials, string>> {
  const valuesByVariable = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\s*([A-Z0-9_]+)=(.*)$/.exec(line);
    if (match !== null) valuesByVariable.set(match[1] as string, unquoted((match[2] as string).trim()));
  }
  const kept: Partial<Record<keyof FirstStartCredentials, string>> = {};
  for (const name of CREDENTIAL_NAMES) {
    const value = valuesByVariable.get(CREDENTIAL_VARIABLES[name]);
    if (value !== undefined && value !== '') kept[name] = value;
  }
  return kept;
}

function quoted(value: string): string {
  return PLAIN.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

function unquoted(value: string): string {
  const match = /^'(.*)'$/.exec(value);
  return match === null ? value : (match[1] as string).replaceAll(`'\\''`, "'");
}
