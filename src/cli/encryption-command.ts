/** `millrace encryption list|rotate|retire`: the master keys that open the data key of a data directory, also while it is served. */
import { DataKeyFile, NodeRandom } from '../adapters/node/index.js';
import type { Config, Environment } from '../config/index.js';
import { MillraceError } from '../kernel/index.js';
import { doVerb, type Verbs } from './command-line.js';
import { loadedConfig } from './loaded-config.js';
import { type Output, type ParsedArguments, shown } from './parser.js';

interface EncryptionDeps extends Pick<Output, 'write'> {
  readonly env: Environment;
}

/** @returns the exit code. @throws BAD_CONFIG for a missing or wrong key */
export function encryptionCommand(verb: string, asked: ParsedArguments, deps: EncryptionDeps): Promise<number> {
  return doVerb(VERBS, verb, asked, deps);
}

const VERBS: Verbs<EncryptionDeps> = {
  list: async (asked, { env, write }) => {
    const { file } = keysOf(env);
    write(answer(asked, (await file.keyIds()) ?? []));
  },
  rotate: async (asked, { env, write }) => {
    const { file, storage } = keysOf(env);
    const key = given(storage, 'encryptionKey', 'MILLRACE_ENCRYPTION_KEY');
    const next = given(storage, 'encryptionNextKey', 'MILLRACE_ENCRYPTION_NEXT_KEY');
    write(answer(asked, await file.addKey(key, next)));
  },
  retire: async (asked, { env, write }) => {
    const { file, storage } = keysOf(env);
    write(answer(asked, await file.keepOnly(given(storage, 'encryptionKey', 'MILLRACE_ENCRYPTION_KEY'))));
  },
};

function keysOf(env: Environment) {
  const { storage } = loadedConfig(env).config;
  return { storage, file: new DataKeyFile(storage.dataDir, new NodeRandom()) };
}

function given(storage: Config['storage'], name: 'encryptionKey' | 'encryptionNextKey', variable: string): string {
  const key = storage[name];
  if (key === undefined) throw new MillraceError('BAD_CONFIG', `${variable} is not set`, { variable });
  return key.reveal();
}

function answer(asked: ParsedArguments, keyIds: readonly string[]): string {
  return shown(asked, { keyIds }, () =>
    keyIds.length === 0 ? 'the data is not encrypted\n' : keyIds.map((id) => `${id} opens the data key\n`).join(''),
  );
}
