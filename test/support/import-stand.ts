/** The target of an import, and the command `millrace import`. */
import { importCommand } from '../../src/cli/import/import-command.js';
import type { Output } from '../../src/cli/parser.js';
import { runTyped } from './command-lines.js';
import { PASSWORD, RespEndpointHarness } from './resp-endpoint.js';

export interface ImportStand {
  readonly face: RespEndpointHarness;
  readonly port: number;
  readonly password: string;
  readonly url: string;
  stop(): Promise<void>;
}

export async function startImportStand(): Promise<ImportStand> {
  const face = await new RespEndpointHarness().start();
  const url = `redis://default:${PASSWORD}@127.0.0.1:${face.port}`;
  return { face, port: face.port, password: PASSWORD, url, stop: () => face.stop() };
}

/** Runs `millrace import <source> --to <the stand> …`. */
export async function importInto({ url }: Pick<ImportStand, 'url'>, source: string, ...more: readonly string[]) {
  let [out, err] = ['', ''];
  const output: Output = {
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
  };
  const words = ['import', source, '--to', url, ...more];
  const code = await runTyped(words, { process: (_verb, asked) => importCommand(asked, output) }, output);
  return { code, out, err };
}
