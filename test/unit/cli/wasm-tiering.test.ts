/** The engine's flag for optimising WebAssembly applies to all modules; the program sets it at its start. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { WASM_TIERING_BUDGET } from '../../../src/domain/kv/lua/lua-binary.js';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const MAIN_SOURCE = fileURLToPath(new URL('../../../../src/cli/main.ts', import.meta.url));
const LUA = new URL('../../../src/domain/kv/lua/', import.meta.url).href;
/** A module whose only function, `count`, counts down from its argument. */
const COUNTING = [
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 1, 0x7f, 0, 3, 2, 1, 0, 7, 9, 1, 5, 0x63, 0x6f, 0x75, 0x6e, 0x74],
  ...[0, 0, 0x0a, 0x10, 1, 0x0e, 0, 3, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x0b],
];
/** A hundred million bytes of code, in pieces between which the engine can optimise. */
const COUNT = `const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(${JSON.stringify(COUNTING)})));
  for (let piece = 0; piece < 100; piece += 1) { exports.count(100_000); await new Promise(setImmediate); }`;
/** Compiles the same text 300,000 times in a Lua machine, in pieces. */
const COMPILE = `const { scriptMachine } = await import('${LUA}script-machine.js');
  const { machine } = scriptMachine('8.2.0');
  for (let piece = 0; piece < 300; piece += 1) {
    for (let i = 0; i < 1000; i += 1) { machine.load(machine.state, 'local a = 1 return a', '=text'); machine.pop(machine.state); }
    await new Promise(setImmediate);
  }`;

/** Whether the engine optimises a function while the text runs at the end of the program. */
async function optimises(text: string): Promise<boolean> {
  const atEnd = `const { exit } = process; process.exit = async () => { process.exit = exit; ${text}; exit(0); };`;
  const flags = ['--trace-wasm-compilation-times', '--import', `data:text/javascript,${encodeURIComponent(atEnd)}`];
  const program = spawn(process.execPath, [...flags, MAIN, 'version'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    for await (const output of program.stdout.setEncoding('utf8')) {
      if (String(output).includes('using TurboFan')) return true;
    }
    return false;
  } finally {
    program.kill('SIGKILL');
  }
}

describe('the optimisation of WebAssembly', () => {
  it('includes functions of Lua that are called often', async () => {
    expect(await optimises(COMPILE)).to.equal(true);
  });

  it('leaves other modules out, also after Lua was loaded', async () => {
    const load = `(await import('${LUA}lua-binary.js')).luaBinary();`;
    expect(await optimises(`${load} ${COUNT}`)).to.equal(false);
  });

  it('has the same budget for other modules before and after Lua is loaded', () => {
    const [, budget = ''] = /WASM_TIERING_BUDGET = ([\d_]+);/.exec(readFileSync(MAIN_SOURCE, 'utf8')) ?? [];
    expect(Number(budget.replaceAll('_', ''))).to.equal(WASM_TIERING_BUDGET);
  });
});
