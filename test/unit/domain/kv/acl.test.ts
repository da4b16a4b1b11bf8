/** Proves ASE1. */
import { expect } from 'chai';
import {
  AclUser,
  allCommands,
  CATEGORIES,
  categoriesOf,
  findCommand,
  joinSelectors,
  permissionsOf,
  RuleError,
  readOnlyPermissions,
} from '../../../../src/domain/kv/index.js';

const hashOf = (password: string) => Buffer.from(password).toString('hex').padEnd(64, '0').slice(0, 64);

function userWith(...rules: string[]): AclUser {
  const user = new AclUser();
  for (const rule of rules) user.apply(rule, hashOf);
  return user;
}

/** The refusal for a client, or undefined. */
function refusal(rules: readonly string[], line: string): string | undefined {
  const words = line.split(' ');
  const spec = findCommand(words);
  if (spec === undefined) throw new Error(`no ${line}`);
  return permissionsOf(userWith(...rules).rules, 'u')?.refusal(spec, words)?.text;
}

const noCommand = (name: string) => `NOPERM User u has no permissions to run the '${name}' command`;

describe('ACL rules', () => {
  it('restore the same user from their stored text', () => {
    const each = [
      [],
      ['on', '>pw', '~a*', '%R~b', '%W~c', '&x*', '+get', '-@all', '+@read', '-get', '+select|0'],
      ['allkeys', 'allchannels', 'allcommands', '-flushall'],
      ['nopass', 'skip-sanitize-payload', '(~a +get)', '(%R~b &c +@read)'],
      ['~\xff\x00'.replace('\x00', ''), '&\xe9'],
      ['~(', '&)', '(~a) +get)'],
    ];
    for (const rules of each) {
      const user = userWith(...rules);
      expect(AclUser.of(user.rules, [...user.passwords]).rules).to.equal(user.rules);
      expect(AclUser.of(user.rules, [...user.passwords]).describe('u')).to.equal(user.describe('u'));
    }
  });

  it('never have a line break in that text', () => {
    for (const rule of ['~a\nb', '&a\nb', '+select|a\nb', '+get\n', '%R~\n']) {
      expect(() => userWith(rule), JSON.stringify(rule)).to.throw(RuleError);
    }
  });

  it('join the words of a selector, and report one without an end', () => {
    expect(joinSelectors(['on', '(~a', '+get)', '~b']).rules).to.deep.equal(['on', '(~a +get)', '~b']);
    expect(joinSelectors(['on', '(~a', '+get']).openAt).to.equal('(~a');
  });

  it('accept the names of Redis commands that this server refuses', () => {
    expect(userWith('+@all', '-debug', '-shutdown').describe('u')).to.include('+@all -debug -shutdown');
  });

  it('contain no clear password', () => {
    expect(userWith('on', '>secret').rules).to.not.include('secret');
    expect(() => AclUser.of('on\n>secret')).to.throw(RuleError);
  });
});

describe('ACL permissions', () => {
  it('are undefined for a user with all rights, and then cost no check', () => {
    expect(permissionsOf(userWith('+@all', '~*', '&*').rules, 'u')).to.equal(undefined);
    expect(permissionsOf(userWith('+@all', '~*').rules, 'u')).to.not.equal(undefined);
  });

  it('are compiled once for a user', () => {
    const { rules } = userWith('+get', '~x');
    expect(permissionsOf(rules, 'u')).to.equal(permissionsOf(rules, 'u'));
    expect(permissionsOf(rules, 'v')).to.not.equal(permissionsOf(rules, 'u'));
  });

  it('cover commands, keys by access, and channels', () => {
    const rules = ['+@all', '%R~r*', '%W~w*', '~b*', '&news*'];
    expect(refusal(rules, 'GET r1')).to.equal(undefined);
    expect(refusal(rules, 'GET w1')).to.equal('NOPERM No permissions to access a key');
    expect(refusal(rules, 'SET w1 x')).to.equal(undefined);
    expect(refusal(rules, 'SET w1 x GET')).to.equal('NOPERM No permissions to access a key');
    expect(refusal(rules, 'INCR b1')).to.equal(undefined);
    expect(refusal(rules, 'INCR w1')).to.equal('NOPERM No permissions to access a key');
    expect(refusal(rules, 'COPY r1 w1')).to.equal(undefined);
    expect(refusal(rules, 'COPY w1 r1')).to.equal('NOPERM No permissions to access a key');
    expect(refusal(rules, 'SUBSCRIBE news1')).to.equal(undefined);
    expect(refusal(rules, 'SUBSCRIBE news1 other')).to.equal('NOPERM No permissions to access a channel');
    expect(refusal(['~*', '+get'], 'SET a 1')).to.equal(noCommand('set'));
    expect(refusal(['~*', '-@all'], 'CLIENT LIST')).to.equal(noCommand('client|list'));
  });

  it('compare the pattern of a pattern subscription literally', () => {
    const rules = ['+@all', '&news*'];
    expect(refusal(rules, 'PSUBSCRIBE news*')).to.equal(undefined);
    expect(refusal(rules, 'PSUBSCRIBE news1*')).to.equal('NOPERM No permissions to access a channel');
    const permissions = permissionsOf(userWith(...rules).rules, 'u');
    expect(permissions?.mayReach('news1', false)).to.equal(true);
    expect(permissions?.mayReach('news1', true)).to.equal(false);
  });

  it('require one selector that allows the whole command', () => {
    const rules = ['~a', '+get', '(~b +set)'];
    expect(refusal(rules, 'GET a')).to.equal(undefined);
    expect(refusal(rules, 'SET b 1')).to.equal(undefined);
    expect(refusal(rules, 'GET b')).to.equal('NOPERM No permissions to access a key');
    expect(refusal(rules, 'DEL a')).to.equal(noCommand('del'));
  });

  it('always allow AUTH, HELLO, QUIT and RESET', () => {
    for (const line of ['AUTH x', 'HELLO 3', 'QUIT', 'RESET'])
      expect(refusal(['-@all'], line), line).to.equal(undefined);
  });

  it('are refused over REST with the documented texts', () => {
    const permissions = permissionsOf(userWith('~a', '+get').rules, 'u');
    const restText = (line: string) => {
      const words = line.split(' ');
      const spec = findCommand(words);
      return spec === undefined ? undefined : permissions?.refusal(spec, words)?.restText;
    };
    const may = 'NOPERM this user has no permissions to';
    expect(restText('CLIENT LIST')).to.equal(`${may} run the 'client' command or its subcommand`);
    expect(restText('GET b')).to.equal(`${may} access one of the keys used as arguments`);
  });
});

describe('ACL categories', () => {
  it('of every command are known ones', () => {
    for (const spec of allCommands()) {
      const strange = [...categoriesOf(spec)].filter((category) => !CATEGORIES.includes(category));
      expect(strange, spec.name).to.deep.equal([]);
    }
  });

  it('allow the read-only token exactly the commands with readOnlyToken, or harmless reads by default', () => {
    const wrong = allCommands().filter((spec) => {
      if (spec.flags.includes('noauth')) return false;
      const isHarmless = spec.flags.includes('readonly') && !categoriesOf(spec).has('dangerous');
      const isOpen = spec.readOnlyToken ?? isHarmless;
      return isOpen === (readOnlyPermissions().refusal(spec, [spec.name]) !== undefined);
    });
    expect(wrong.map(({ name }) => name)).to.deep.equal([]);
  });
});
