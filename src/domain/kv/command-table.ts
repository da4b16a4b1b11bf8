/** The families assembled: every Redis command there is, found by name. */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { FAMILIES } from './families/index.js';
import { ERRORS, type ErrorReply, notAvailable, wrongArity } from './reply.js';

const specsByName = new Map<string, CommandSpec>();
/** Names that have subcommands: their second word belongs to the name. */
const containers = new Set<string>();

for (const spec of FAMILIES.flat()) {
  specsByName.set(spec.name, spec);
  specsByName.set(spec.name.toLowerCase(), spec);
  const blank = spec.name.indexOf(' ');
  if (blank > 0) containers.add(spec.name.slice(0, blank));
}

export function allCommands(): CommandSpec[] {
  return [...new Set(specsByName.values())];
}

/** The row for a command as typed, in any case; its subcommand's row where it has one. */
export function findCommand(words: readonly ByteString[]): CommandSpec | undefined {
  const name = words[0] as ByteString;
  const direct = specsByName.get(name);
  if (direct !== undefined) return direct;
  const upper = name.toUpperCase();
  if (containers.has(upper) && words.length > 1) {
    const sub = specsByName.get(`${upper} ${(words[1] as ByteString).toUpperCase()}`);
    if (sub !== undefined) return sub;
  }
  return specsByName.get(upper);
}

/** The row of a command that may be queued, or the error a client gets instead: unknown, or of wrong arity. */
export function admit(words: readonly ByteString[]): CommandSpec | ErrorReply {
  if (words.length === 0 || (words[0] === '' && words.length === 1)) return ERRORS.emptyCommand;
  const spec = findCommand(words);
  if (spec === undefined) {
    // A container without its subcommand lacks a word; Redis says so too.
    const name = (words[0] as ByteString).toUpperCase();
    return words.length === 1 && containers.has(name) ? wrongArity(name) : notAvailable(fullName(words));
  }
  const { arity } = spec;
  if (arity >= 0 ? words.length !== arity : words.length < -arity) {
    return wrongArity(spec.name.replace(' ', '|'));
  }
  return spec;
}

function fullName(words: readonly ByteString[]): string {
  const name = (words[0] as ByteString).toUpperCase();
  return containers.has(name) && words.length > 1 ? `${name} ${(words[1] as ByteString).toUpperCase()}` : name;
}
