/** Users as `ACL LIST` tells them: `user reader on #… ~user:* -@all +@read (~log:* +xadd)`. */

export interface AclUserLine {
  readonly name: string;
  readonly isOn: boolean;
  readonly passwords: number;
  readonly isOpenToAll: boolean;
  /** Behind the name, as they can be given back. */
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

/** Rules one by one; what stands in parentheses is one. */
export function ruleWords(text: string): string[] {
  return text.match(/\([^)]*\)?|\S+/g) ?? [];
}

/** What people read first: without what every user has, and without digests. */
export function toldRules(rules: readonly string[]): string {
  return rules.filter((rule) => !/^(on|off|nopass|sanitize-payload|#.*)$/.test(rule)).join(' ');
}

/** These two follow the database's password and tokens. */
export const BUILT_IN: ReadonlySet<string> = new Set(['default', 'default_ro']);
