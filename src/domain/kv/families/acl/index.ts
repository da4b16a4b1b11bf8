/**
 * The ACL family. Users belong to the database's record in the control state, not to its data, so the edge answers
 * these commands (src/edge/acl); the engine runs only the ones that need no user.
 */

import { NO_KEYS } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { ErrorReply, SimpleString } from '../../reply.js';
import { EVERY_NODE, family, type Row, row } from '../rows.js';
import { ACL_HELP, aclCategories, aclGeneratePassword } from './answers.js';

const elsewhere = new ErrorReply('ERR ACL commands about users are not allowed in a transaction or a script');

function acl(subcommand: string, arity: number, since: string, summary: string, more: Partial<Row> = {}): Row {
  return row(`ACL ${subcommand}`, arity, since, summary, {
    keys: NO_KEYS,
    handler: () => elsewhere,
    readOnlyToken: false,
    ...more,
    flags: ['edge', 'noscript', 'loading', 'stale', 'nomulti', ...(more.flags ?? [])],
  });
}

const ADMIN: Partial<CommandSpec> = { flags: ['admin', 'dangerous'] };
const LOOK: Partial<CommandSpec> = { ...ADMIN, isLook: true };
const SECRET: Partial<CommandSpec> = { flags: ['admin', 'dangerous', 'skip-monitor'] };

export const ACL: readonly CommandSpec[] = family('acl', [
  acl('CAT', -2, '6.0.0', 'Lists the categories, or the commands of one.', {
    isLook: true,
    handler: ({ args, commands }) => aclCategories(args.words, commands.rows),
    deviations: ['There is a category `json` besides; commands that are not served are in none.'],
  }),
  acl('DELUSER', -3, '6.0.0', 'Deletes users.', { ...ADMIN, tips: EVERY_NODE }),
  acl('DRYRUN', -4, '7.0.0', 'Says whether a user may run a command.', ADMIN),
  acl('GENPASS', -2, '6.0.0', 'Makes a random password.', {
    flags: ['random'],
    handler: ({ args, random }) => aclGeneratePassword(args.words, random),
  }),
  acl('GENTOKEN', -3, '7.0.0', 'Creates a token that can be the password and REST token of a user.', {
    flags: ['skip-monitor', 'random'],
    deviations: ['Redis has no such command.'],
  }),
  acl('GETUSER', 3, '6.0.0', 'Shows the permissions of a user.', {
    ...LOOK,
    deviations: ['Over REST selectors are left out.'],
  }),
  acl('HELP', 2, '6.0.0', 'Lists the subcommands.', { handler: () => ACL_HELP.map((line) => new SimpleString(line)) }),
  acl('LIST', 2, '6.0.0', 'Shows every user as a line of rules.', LOOK),
  acl('LOAD', 2, '6.0.0', 'Accepted: users are stored as they change.', {
    ...ADMIN,
    deviations: ['There is no file of users: always OK.'],
  }),
  acl('LOG', -2, '6.0.0', 'Lists recent denials, or clears the list.', {
    ...ADMIN,
    deviations: ['Kept by each process for itself; always empty over REST.'],
  }),
  acl('RESTTOKEN', 4, '7.0.0', "Returns a REST token with a user's permissions.", {
    flags: ['skip-monitor'],
    deviations: ['Redis has no such command.'],
  }),
  acl('SAVE', 2, '6.0.0', 'Accepted: users are stored as they change.', {
    ...ADMIN,
    tips: EVERY_NODE,
    deviations: ['There is no file of users: always OK.'],
  }),
  acl('SETUSER', -3, '6.0.0', 'Creates a user, or changes the permissions of one.', {
    ...SECRET,
    tips: EVERY_NODE,
    deviations: ['The users `default` and `default_ro` cannot be changed.'],
  }),
  acl('USERS', 2, '6.0.0', 'Lists the names of users.', LOOK),
  acl('WHOAMI', 2, '6.0.0', 'Returns the name of the user of the connection.', { isLook: true }),
]);
