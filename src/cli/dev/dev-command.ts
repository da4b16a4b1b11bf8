/**
 * `millrace dev` and `millrace demo`: a process for trying out, whose data is gone with it.
 *
 *  DEV1 nothing is kept: its directory is made at the start and removed at the end, and no other is touched
 *  DEV2 it listens where `serve` does, beside a port that is busy on another that is free, and opens nothing else
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../config/index.js';
import { paint } from '../paint.js';
import type { Asked, Output } from '../parser.js';
import { atTerminal, serveCommand } from '../serve-command.js';
import { isHuman } from '../serve-line.js';
import { addressesOf, clientLines } from './client-lines.js';
import type { Demo } from './demo.js';
import { devSettings } from './dev-environment.js';

/** @param demo what is done beside it. @returns the exit code. @throws MillraceError when it cannot start */
export async function devCommand(asked: Asked, given: Environment, output: Output, demo?: Demo): Promise<number> {
  const throwAway = mkdtempSync(join(tmpdir(), 'millrace-dev-'));
  const { env, credentials, words } = await devSettings(given, throwAway);
  const { write } = output;
  const onReady = async (listed: readonly string[]) => {
    const addresses = addressesOf(listed);
    await demo?.begin(addresses, credentials, write);
    const hint = `# data is thrown away at the end; what published clients read (docs/wire-aliases.md):`;
    write(`${paint(process.stdout, 'grey', hint)}\n${clientLines(words, addresses, credentials).join('\n')}\n`);
  };
  try {
    return await serveCommand(atTerminal(env), output, { isHuman: isHuman(asked), throwAway, onReady });
  } finally {
    demo?.end();
  }
}
