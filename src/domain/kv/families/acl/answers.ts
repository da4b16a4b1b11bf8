/** Answers of ACL subcommands that need no user: categories, passwords, help. */
import type { ByteString, Random } from '../../../../kernel/index.js';
import { CATEGORIES, categoriesOf, ruleNameOf } from '../../acl/categories.js';
import type { CommandSpec } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply, wrongSubcommand } from '../../reply.js';

const DEFAULT_BITS = 256;
/** Redis's bound. */
const MAX_BITS = 4096;

/** The error for too many words in subcommands of which Redis checks the count itself. */
export function aclWrongWords(words: readonly ByteString[]): ErrorReply {
  return wrongSubcommand('ACL', (words[1] ?? '').slice(0, 128));
}

/** ACL CAT [category] → the categories, or the commands of one. */
export function aclCategories(words: readonly ByteString[], rows: readonly CommandSpec[]): Reply {
  if (words.length > 3) return aclWrongWords(words);
  const [, , name] = words;
  if (name === undefined) return [...CATEGORIES];
  const category = name.toLowerCase();
  if (!CATEGORIES.includes(category)) return new ErrorReply(`ERR Unknown category '${name.slice(0, 128)}'`);
  return rows.filter((spec) => categoriesOf(spec).has(category)).map(ruleNameOf);
}

/** ACL GENPASS [bits] → that many random bits, rounded up to a hex digit. */
export function aclGeneratePassword(words: readonly ByteString[], random: Random): Reply {
  if (words.length > 3) return aclWrongWords(words);
  const bits = words.length === 3 ? parseInt64(words[2] as ByteString) : DEFAULT_BITS;
  if (bits === undefined) return ERRORS.notAnInteger;
  if (bits <= 0 || bits > MAX_BITS) {
    return new ErrorReply(
      `ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to ${MAX_BITS}`,
    );
  }
  const digits = Math.ceil(Number(bits) / 4);
  return Buffer.from(random.bytes(Math.ceil(digits / 2)))
    .toString('hex')
    .slice(0, digits);
}

export const ACL_HELP: readonly string[] = [
  'ACL <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  'CAT [<category>]',
  '    List all commands that belong to <category>, or all command categories',
  '    when no category is specified.',
  'DELUSER <username> [<username> ...]',
  '    Delete a list of users.',
  'DRYRUN <username> <command> [<arg> ...]',
  '    Returns whether the user can execute the given command without executing the command.',
  'GETUSER <username>',
  "    Get the user's details.",
  'GENPASS [<bits>]',
  '    Generate a secure 256-bit user password. The optional `bits` argument can',
  '    be used to specify a different size.',
  'GENTOKEN <username> [<password>]',
  '    Generate a token that is a password of the user and a REST token, once SETUSER has added it.',
  'LIST',
  '    Show users details in config file format.',
  'LOAD',
  '    Accepted: users are stored as they change.',
  'LOG [<count> | RESET]',
  '    Show the ACL log entries.',
  'RESTTOKEN <username> <password>',
  '    Return a REST token with the permissions of the user.',
  'SAVE',
  '    Accepted: users are stored as they change.',
  'SETUSER <username> <attribute> [<attribute> ...]',
  '    Create or modify a user with the specified attributes.',
  'USERS',
  '    List all the registered usernames.',
  'WHOAMI',
  '    Return the current connection username.',
  'HELP',
  '    Print this help.',
];
