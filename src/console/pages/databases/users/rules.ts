/** Parses users from `ACL LIST`: `user reader on #… ~user:* -@all +@read (~log:* +xadd)`. */

export interface AclUserLine {
  readonly name: string;
  readonly isOn: boolean;
  readonly passwords: number;
  readonly isOpenToAll: boolean;
  /** The rules after the name, in a form that SETUSER accepts. */
  readonly rules: readonly string[];
}

export function userIn(line: string): AclUserLine {
  const [, name = '', ...rules] = ruleWords(line);
  return {
    name,
    isOn: rules.includes('on'),
    passwords: rules.filter((rule) => rule.startsWith('#')).length,
    isOpenToAll: rules.includes('nopass'),
    rules,
  };
}

/** Single rules; a selector in parentheses is one rule. */
export function ruleWords(text: string): string[] {
  return text.match(/\([^)]*\)?|\S+/g) ?? [];
}

/** The rules without those that every user has, and without password hashes. */
export function toldRules(rules: readonly string[]): string {
  return rules.filter((rule) => !/^(on|off|nopass|sanitize-payload|#.*)$/.test(rule)).join(' ');
}

/** Their rights and passwords are the database's password and tokens. */
export const BUILT_IN: ReadonlySet<string> = new Set(['default', 'default_ro']);
