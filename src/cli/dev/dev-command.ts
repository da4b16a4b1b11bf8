/**
 * `millrace dev` and `millrace demo`: a process for trials, with temporary data.
 *
 *  DEV1 no data is kept: its directory is created at the start and removed at the end, and no other directory is used
 *  DEV2 it listens on the same ports as `serve`, or on a free one in place of a busy port, and opens no other ports;
 *       its queue is at the address of the clients' development mode
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../config/index.js';
import { addressesOf, clientVariables, variableLine } from '../client-variables.js';
import { paint } from '../paint.js';
import type { Output, ParsedArguments } from '../parser.js';
import { atTerminal, serveCommand } from '../serve-command.js';
import { isHuman } from '../serve-line.js';
import type { Demo } from './demo.js';
import { devSettings } from './dev-environment.js';

/** @param demo runs with the process. @returns the exit code. @throws MillraceError if it cannot start */
export async function devCommand(
  asked: ParsedArguments,
  given: Environment,
  output: Output,
  demo?: Demo,
): Promise<number> {
  const throwAway = mkdtempSync(join(tmpdir(), 'millrace-dev-'));
  const { env, credentials, words } = await devSettings(given, throwAway);
  const { write } = output;
  const onReady = async (listed: readonly string[]) => {
    const addresses = addressesOf(listed);
    await demo?.begin(addresses, credentials, write);
    const lines = clientVariables(words, addresses, credentials).map(variableLine);
    const { mgmtEmail, mgmtKey } = credentials;
    write(`# console ${addresses.mgmt}/console, sign in with ${mgmtEmail} and ${mgmtKey}\n`);
    const hint = `# the data is deleted at the end; variables for published clients (docs/wire-aliases.md):`;
    write(`${paint(process.stdout, 'grey', hint)}\n${lines.join('\n')}\n`);
  };
  try {
    return await serveCommand(atTerminal(env), output, {
      isHuman: isHuman(asked),
      opensConsole: asked.flags.has('open'),
      throwAway,
      onReady,
    });
  } finally {
    demo?.end();
  }
}
