/**
 * Maps the names in ACL rules to rows of the command table: `get`, `client|list`, or `client` for all its subcommands.
 * Rows are numbered, so that a set of rows can be a bit array.
 */
import type { CommandDescription } from '../command-description.js';
import { COMMANDS } from '../commands.js';
import { categoriesOf, ruleNameOf } from './categories.js';

/** Redis commands without a row here. Rules may name them, because existing rule sets do. */
const WITHOUT_ROWS: ReadonlySet<string> = new Set(['hotkeys', 'pfdebug', 'pfselftest', 'restore-asking', 'trimslots']);

interface CommandName {
  /** Redis's form in rules: lower case, `container|subcommand`. */
  readonly rule: string;
  /** The rows it stands for, including subcommands. */
  readonly rows: readonly number[];
  readonly hasSubcommands: boolean;
  readonly isSubcommand: boolean;
}

class CommandCatalogue {
  readonly specs = COMMANDS.rows;
  readonly #numbers = new Map<CommandDescription, number>(this.specs.map((spec, number) => [spec, number]));
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

  numberOf(spec: CommandDescription): number {
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

  /** The numbers of the rows in a category. */
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
