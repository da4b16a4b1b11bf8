/** The words of `millrace backup`. */
import type { Command } from 'commander';
import { dataVerb, group, type RunVerb } from '../parser.js';

export function backupLine(run: RunVerb): Command {
  const backup = group('backup', 'copies a whole installation, proves the copy, fills an empty one from it');
  dataVerb(backup, 'create', 'copies the installation into a directory', run)
    .requiredOption('--to <dir>', 'an empty directory, or one of an interrupted attempt')
    .option('--key-to <file>', 'where the key file is copied; it is not in the backup');
  dataVerb(backup, 'verify <dir>', 'proves a copy, alone', run);
  dataVerb(backup, 'restore', 'fills an empty installation', run)
    .requiredOption('--from <dir>', 'the copy')
    .option('--key-from <file>', 'the copy of the key file, which is put where the settings say')
    .option('--without-key', 'there is no key file any more: nothing that was sealed will be readable');
  return backup;
}
