/**
 * A selector: one set of permissions for commands, keys and channels. A user has a root selector and may have more; a
 * command may run if one selector allows all of it.
 *
 *  ASE1 the rules that a selector prints recreate an equal selector when applied to an empty one
 *  ASE2 command rules are printed in the order in which they were given, without those that a later rule overrides
 */
import type { ByteString } from '../../../kernel/index.js';
import type { CommandDescription } from '../command-description.js';
import { compileGlob, type Glob, isGlobTooLong } from '../glob.js';
import { CATEGORIES } from './categories.js';
import { commandCatalogue } from './command-catalogue.js';
import { channelsOf, READ, WRITE, wantedKeysOf } from './needs.js';
import type { Objection } from './permission-denied.js';
import { RULE_ERRORS } from './rule-error.js';

interface KeyPattern {
  readonly text: ByteString;
  readonly matches: Glob;
  access: number;
}

/** The blanks of C's `isspace`, and the end of a C string. */
const BLANK = /[ \t\n\v\f\r\0]/;

export class AclSelector {
  #allKeys = false;
  #allChannels = false;
  /** Allows every command, including those of later releases. */
  #allCommands = false;
  /** Whether the command rules start from all commands or from none. */
  #beginsWithAll = false;
  #rows = new Uint8Array(commandCatalogue().specs.length);
  /** `+get`, `-@admin` …, applied after `+@all` or `-@all`. */
  #rules: string[] = [];
  /** Allowed first arguments by row number: for example `SELECT` only with `0`. */
  readonly #firstArgs = new Map<number, Set<string>>();
  readonly #keys = new Map<ByteString, KeyPattern>();
  readonly #channels = new Map<ByteString, Glob>();

  /** @throws RuleError */
  apply(rule: ByteString): void {
    switch (rule.toLowerCase()) {
      case 'allkeys':
      case '~*':
        this.#allKeys = true;
        this.#keys.clear();
        return;
      case 'resetkeys':
        this.#allKeys = false;
        this.#keys.clear();
        return;
      case 'allchannels':
      case '&*':
        this.#allChannels = true;
        this.#channels.clear();
        return;
      case 'resetchannels':
        this.#allChannels = false;
        this.#channels.clear();
        return;
      case 'allcommands':
      case '+@all':
        this.#setAllCommands(true);
        return;
      case 'nocommands':
      case '-@all':
        this.#setAllCommands(false);
        return;
    }
    const [first] = rule;
    if (first === '~' || first === '%') this.#addKeys(rule);
    else if (first === '&') this.#addChannels(rule.slice(1));
    else if (first === '+' || first === '-') this.#setCommands(first === '+', rule.slice(1));
    else throw RULE_ERRORS.syntax();
  }

  /** The reason for refusing the command; undefined when it may run. */
  objectionTo(spec: CommandDescription, words: readonly ByteString[]): Objection | undefined {
    if (!this.#mayRun(spec, words)) return { reason: 'command', object: '', position: 0 };
    if (!this.#allKeys) {
      for (const { key, position, access } of wantedKeysOf(spec, words)) {
        if (!this.#mayTouch(key, access)) return { reason: 'key', object: key, position };
      }
    }
    if (this.#allChannels) return undefined;
    for (const { channel, isPattern, position } of channelsOf(spec, words)) {
      if (!this.mayReach(channel, isPattern)) return { reason: 'channel', object: channel, position };
    }
    return undefined;
  }

  /** A subscription to a pattern is allowed only if exactly that pattern was granted. */
  mayReach(channel: ByteString, isPattern: boolean): boolean {
    if (this.#allChannels || this.#channels.has(channel)) return true;
    if (isPattern) return false;
    for (const matches of this.#channels.values()) if (matches(channel)) return true;
    return false;
  }

  get allowsEverything(): boolean {
    return this.#allCommands && this.#allKeys && this.#allChannels;
  }

  get keyText(): ByteString {
    if (this.#allKeys) return '~*';
    return [...this.#keys.values()].map(({ text, access }) => `${KEY_PREFIX[access]}${text}`).join(' ');
  }

  get channelText(): ByteString {
    return this.#allChannels ? '&*' : [...this.#channels.keys()].map((pattern) => `&${pattern}`).join(' ');
  }

  get commandText(): string {
    return [this.#beginsWithAll ? '+@all' : '-@all', ...this.#rules].join(' ');
  }

  /** ASE1: these rules recreate an equal selector when applied to an empty one. */
  get rules(): ByteString[] {
    const channels = this.#allChannels ? '&*' : `resetchannels ${this.channelText}`;
    return `${this.keyText} ${channels} ${this.commandText}`.split(' ').filter((rule) => rule !== '');
  }

  #mayRun(spec: CommandDescription, words: readonly ByteString[]): boolean {
    if (this.#allCommands || spec.flags.includes('noauth')) return true;
    const number = commandCatalogue().numberOf(spec);
    if (this.#rows[number] === 1) return true;
    const firstArgs = this.#firstArgs.get(number);
    return firstArgs !== undefined && words.length > 1 && firstArgs.has((words[1] as ByteString).toLowerCase());
  }

  #mayTouch(key: ByteString, access: number): boolean {
    for (const pattern of this.#keys.values()) {
      if ((pattern.access & access) === access && pattern.matches(key)) return true;
    }
    return false;
  }

  #addKeys(rule: ByteString): void {
    if (this.#allKeys) throw RULE_ERRORS.afterAllKeys();
    const [, letters = ''] = /^%([RrWw]{1,2})(?:~|$)/.exec(rule) ?? [];
    let access = 0;
    if (rule.startsWith('~')) access = READ | WRITE;
    for (const letter of letters.toUpperCase()) {
      const bit = letter === 'R' ? READ : WRITE;
      if ((access & bit) !== 0) throw RULE_ERRORS.syntax();
      access |= bit;
    }
    const text = rule.slice(letters.length + (rule.startsWith('%') ? 2 : 1));
    if (access === 0 || BLANK.test(text)) throw RULE_ERRORS.syntax();
    if (isGlobTooLong(text)) throw RULE_ERRORS.patternTooLong();
    const same = this.#keys.get(text);
    if (same !== undefined) same.access |= access;
    else this.#keys.set(text, { text, matches: compileGlob(text), access });
  }

  #addChannels(pattern: ByteString): void {
    if (this.#allChannels) throw RULE_ERRORS.afterAllChannels();
    if (BLANK.test(pattern)) throw RULE_ERRORS.syntax();
    if (isGlobTooLong(pattern)) throw RULE_ERRORS.patternTooLong();
    this.#channels.set(pattern, compileGlob(pattern));
  }

  #setAllCommands(isAllowed: boolean): void {
    this.#allCommands = isAllowed;
    this.#beginsWithAll = isAllowed;
    this.#rows.fill(isAllowed ? 1 : 0);
    this.#rules = [];
    this.#firstArgs.clear();
  }

  #setCommands(isAllowed: boolean, name: string): void {
    if (name.startsWith('@')) {
      const category = name.slice(1).toLowerCase();
      if (!CATEGORIES.includes(category)) throw RULE_ERRORS.unknownCommand();
      this.#setRows(commandCatalogue().inCategory(category), isAllowed);
      this.#noteRule(isAllowed, `@${category}`);
      return;
    }
    const bar = name.lastIndexOf('|');
    if (isAllowed && bar >= 0) {
      this.#allowPart(name.slice(0, bar), name.slice(bar + 1));
      return;
    }
    const found = commandCatalogue().find(name);
    if (found === undefined) throw RULE_ERRORS.unknownCommand();
    this.#setRows(found.rows, isAllowed);
    this.#noteRule(isAllowed, found.rule);
  }

  /** `+client|list`, or `+select|0`: allows one first argument of a command without subcommands. */
  #allowPart(containerName: string, part: string): void {
    const container = commandCatalogue().find(containerName);
    if (container === undefined) throw RULE_ERRORS.unknownCommand();
    if (container.isSubcommand) throw RULE_ERRORS.firstArgOfSubcommand();
    if (part === '' || BLANK.test(part)) throw RULE_ERRORS.syntax();
    const word = part.toLowerCase();
    if (container.hasSubcommands) {
      const sub = commandCatalogue().find(`${containerName}|${part}`);
      if (sub === undefined) throw RULE_ERRORS.unknownCommand();
      this.#setRows(sub.rows, true);
    } else {
      for (const number of container.rows) {
        this.#firstArgs.set(number, (this.#firstArgs.get(number) ?? new Set()).add(word));
      }
    }
    this.#noteRule(true, `${container.rule}|${word}`);
  }

  #setRows(numbers: readonly number[], isAllowed: boolean): void {
    if (!isAllowed) this.#allCommands = false;
    for (const number of numbers) {
      this.#rows[number] = isAllowed ? 1 : 0;
      this.#firstArgs.delete(number);
    }
  }

  /** ASE2: a rule overrides earlier rules about the same name or its parts. */
  #noteRule(isAllowed: boolean, name: string): void {
    this.#rules = this.#rules.filter((rule) => rule.slice(1) !== name && !rule.slice(1).startsWith(`${name}|`));
    this.#rules.push(`${isAllowed ? '+' : '-'}${name}`);
  }
}

const KEY_PREFIX: Readonly<Record<number, string>> = { [READ]: '%R~', [WRITE]: '%W~', [READ | WRITE]: '~' };
