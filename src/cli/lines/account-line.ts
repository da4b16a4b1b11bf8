/** The words of `millrace account`. */
import type { Command } from 'commander';
import { dataVerb, group, type RunVerb } from '../parser.js';

/** An account is named by its id, name, e-mail or UUID; where none is named, the only person's is meant. */
export function accountLine(run: RunVerb): Command {
  const account = group('account', 'accounts: made, listed, suspended, limited, given new tokens');
  dataVerb(account, 'create', 'makes an account, and prints its tokens and keys, once', run)
    .requiredOption('--name <name>', 'what it is called')
    .requiredOption('--email <email>', 'who signs in');
  dataVerb(account, 'list', 'lists accounts', run);
  dataVerb(account, 'show [account]', 'prints ids and limits', run).option('--show-secrets', 'with tokens and keys');
  dataVerb(account, 'suspend [account]', 'lets nobody of it in until it is activated', run);
  dataVerb(account, 'activate [account]', 'lets it in again', run);
  dataVerb(account, 'limits [words...]', 'sets limits of its queue', run).usage('[options] [account] LIMIT=N ...');
  dataVerb(account, 'reset-tokens [account]', 'makes new tokens of its queue; the old ones open nothing', run);
  return account;
}
