/**
 * The rows of the command table as ACL rules name them: `get`, `client|list`, and `client` for all of its
 * subcommands together. Rows have a number, for sets of them.
 */
import type { CommandSpec } from '../command-spec.js';
import { COMMANDS } from '../commands.js';
import { categoriesOf, ruleNameOf } from './categories.js';

/** Commands of Redis that have no row here. Rules that name them are as good as any, since many a rule set does. */
const WITHOUT_ROWS: ReadonlySet<string> = new Set(['hotkeys', 'pfdebug', 'pfselftest', 'restore-asking', 'trimslots']);

interface CommandName {
  /** Redis writes it so in rules: lower case, `container|subcommand`. */
  readonly rule: string;
  /** The rows it stands for, its subcommands' among them. */
  readonly rows: readonly number[];
  readonly hasSubcommands: boolean;
  readonly isSubcommand: boolean;
}

class CommandCatalogue {
  readonly specs = COMMANDS.rows;
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
    if (found !== undefined) return found;
    const [container = ''] = rule.split('|');
    const mayBeNamed = COMMANDS.rowOf(container)?.rulesMayNameParts === true || WITHOUT_ROWS.has(container);
    if (!mayBeNamed) return undefined;
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
