/**
 * The rows of the command table as ACL rules name them: `get`, `client|list`, and `client` for all of its
 * subcommands together. Rows have a number, for sets of them.
 */
import type { CommandSpec } from '../command-spec.js';
import { allCommands } from '../commands.js';
import { categoriesOf, ruleNameOf } from './categories.js';

/**
 * Commands of Redis that are refused here. Rules that name them are as good as any, since many a rule set
 * begins by taking `debug` or `shutdown` away.
 */
const ABSENT: ReadonlySet<string> = new Set([
  'bgrewriteaof',
  'bgsave',
  'debug',
  'failover',
  'hotkeys',
  'migrate',
  'module',
  'pfdebug',
  'pfselftest',
  'psync',
  'replconf',
  'replicaof',
  'restore-asking',
  'save',
  'shutdown',
  'slaveof',
  'sync',
  'trimslots',
]);

export interface CommandName {
  /** As Redis writes it in rules: lower case, `container|subcommand`. */
  readonly rule: string;
  /** The rows it stands for, its subcommands' among them. */
  readonly rows: readonly number[];
  readonly hasSubcommands: boolean;
  readonly isSubcommand: boolean;
}

class CommandCatalogue {
  readonly specs = allCommands();
  readonly #numbers = new Map(this.specs.map((spec, number) => [spec, number]));
  readonly #names = new Map<string, CommandName>();

  constructor() {
    const rowsByName = new Map<string, number[]>();
    const containers = new Set<string>();
    this.specs.forEach((spec, number) => {
      const rule = ruleNameOf(spec);
      const [container = ''] = rule.split('|');
      for (const name of new Set([rule, container])) rowsByName.set(name, [...(rowsByName.get(name) ?? []), number]);
      if (container !== rule) containers.add(container);
    });
    for (const [rule, rows] of rowsByName) {
      this.#names.set(rule, {
        rule,
        rows,
        hasSubcommands: containers.has(rule),
        isSubcommand: rule.includes('|'),
      });
    }
  }

  numberOf(spec: CommandSpec): number {
    return this.#numbers.get(spec) ?? -1;
  }

  /** @param name in any case */
  find(name: string): CommandName | undefined {
    const rule = name.toLowerCase();
    const found = this.#names.get(rule);
    if (found !== undefined || !ABSENT.has(rule.split('|')[0] as string)) return found;
    return { rule, rows: [], hasSubcommands: false, isSubcommand: rule.includes('|') };
  }

  /** Numbers of the rows in a category. */
  inCategory(category: string): number[] {
    const numbers: number[] = [];
    this.specs.forEach((spec, number) => {
      if (categoriesOf(spec).has(category)) numbers.push(number);
    });
    return numbers;
  }
}

const catalogue = new CommandCatalogue();

export function commandCatalogue(): CommandCatalogue {
  return catalogue;
}
