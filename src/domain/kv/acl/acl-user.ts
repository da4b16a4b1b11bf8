/**
 * An ACL user as built by the rules of ACL SETUSER: whether it may sign in, its passwords (only as SHA-256 digests) and
 * its permissions.
 *
 * `rules` is the text that is stored, sent and compared: without passwords, one rule per line (a rule may contain
 * blanks but no line breaks). `AclUser.of` parses it.
 */
import type { ByteString } from '../../../kernel/index.js';
import { RULE_ERRORS, RuleError } from './rule-error.js';
import { AclSelector } from './selector.js';

/** SHA-256 of a password's bytes, 64 lower-case hex digits. */
export type PasswordHash = (password: ByteString) => string;

const HASH = /^[0-9a-f]{64}$/;
const RULE_BREAK = '\n';

export class AclUser {
  isOn = false;
  /** Any password is accepted (`nopass`). */
  isOpen = false;
  /** Only displayed: every payload is checked in any case. */
  #sanitizes = true;
  readonly passwords = new Set<string>();
  #root = new AclSelector();
  #more: AclSelector[] = [];

  /** @param rules as `rules` returns them @throws RuleError for rules that only a later release knows */
  static of(rules: string, passwords: readonly string[] = []): AclUser {
    const user = new AclUser();
    for (const rule of rules.split(RULE_BREAK)) user.apply(rule, noPasswords);
    for (const password of passwords) user.passwords.add(password);
    return user;
  }

  /** The root selector first. */
  get selectors(): readonly AclSelector[] {
    return [this.#root, ...this.#more];
  }

  /** @throws RuleError */
  apply(rule: ByteString, hashOf: PasswordHash): void {
    if (rule === '') return;
    const [first = ''] = rule;
    if (first === '>' || first === '#') this.#addPassword(rule, hashOf);
    else if (first === '<' || first === '!') this.#removePassword(rule, hashOf);
    else if (first === '(' && rule.endsWith(')')) this.#more.push(selectorOf(rule));
    else if (!this.#applyWord(rule.toLowerCase())) this.#root.apply(rule);
  }

  /** The flags shown by ACL GETUSER. */
  get flags(): string[] {
    const flags = [this.isOn ? 'on' : 'off'];
    if (this.isOpen) flags.push('nopass');
    flags.push(this.#sanitizes ? 'sanitize-payload' : 'skip-sanitize-payload');
    return flags;
  }

  get rules(): string {
    return [...this.flags, ...this.#root.rules, ...this.#selectorRules()].join(RULE_BREAK);
  }

  /** The line shown by ACL LIST. */
  describe(name: ByteString): ByteString {
    const passwords = [...this.passwords].map((password) => `#${password}`);
    const parts = [...this.flags, ...passwords, ...this.#root.rules, ...this.#selectorRules()];
    return `user ${name} ${parts.join(' ')}`;
  }

  #selectorRules(): ByteString[] {
    return this.#more.map((selector) => `(${selector.rules.join(' ')})`);
  }

  #applyWord(word: string): boolean {
    switch (word) {
      case 'on':
      case 'off':
        this.isOn = word === 'on';
        return true;
      case 'nopass':
        this.isOpen = true;
        this.passwords.clear();
        return true;
      case 'resetpass':
        this.isOpen = false;
        this.passwords.clear();
        return true;
      case 'sanitize-payload':
      case 'skip-sanitize-payload':
        this.#sanitizes = word === 'sanitize-payload';
        return true;
      case 'clearselectors':
        this.#more = [];
        return true;
      case 'reset':
        this.#reset();
        return true;
      default:
        return false;
    }
  }

  #reset(): void {
    this.isOn = false;
    this.isOpen = false;
    this.#sanitizes = true;
    this.passwords.clear();
    this.#root = new AclSelector();
    this.#more = [];
  }

  #addPassword(rule: ByteString, hashOf: PasswordHash): void {
    const hash = rule.startsWith('#') ? rule.slice(1) : hashOf(rule.slice(1));
    if (!HASH.test(hash)) throw RULE_ERRORS.badHash();
    this.passwords.add(hash);
    this.isOpen = false;
  }

  #removePassword(rule: ByteString, hashOf: PasswordHash): void {
    const hash = rule.startsWith('!') ? rule.slice(1) : hashOf(rule.slice(1));
    if (!HASH.test(hash)) throw RULE_ERRORS.badHash();
    if (!this.passwords.delete(hash)) throw RULE_ERRORS.noSuchPassword();
  }
}

function selectorOf(rule: ByteString): AclSelector {
  const selector = new AclSelector();
  for (const part of rule.slice(1, -1).split(/[ \t\n\v\f\r\0]+/)) if (part !== '') selector.apply(part);
  return selector;
}

function noPasswords(): never {
  throw new RuleError('A password is no part of stored rules');
}

/**
 * The rules of ACL SETUSER, with a selector that spans several words joined into one. @returns `openAt`: the word with
 * an unclosed parenthesis; then no rule must be applied
 */
export function joinSelectors(words: readonly ByteString[]): { rules: ByteString[]; openAt?: ByteString } {
  const rules: ByteString[] = [];
  let open: ByteString[] | undefined;
  for (const word of words) {
    if (open === undefined && word.startsWith('(') && !word.endsWith(')')) {
      open = [word];
    } else if (open === undefined) {
      rules.push(word);
    } else {
      open.push(word);
      if (!word.endsWith(')')) continue;
      rules.push(open.join(' '));
      open = undefined;
    }
  }
  const [openAt] = open ?? [];
  return openAt === undefined ? { rules } : { rules, openAt };
}
