/** Commands about the connection itself, by the names of their rows. */
import { CLIENT_OTHERS } from './client-others.js';
import { CLIENT_SELF } from './client-self.js';
import { CLUSTER_CLIENTS } from './cluster.js';
import type { ConnectionCommand } from './connection-command.js';
import { FIELD_SETS } from './field-sets.js';
import { GREETING } from './greeting.js';
import { SUBSCRIPTIONS } from './subscriptions.js';
import { TRACKING } from './tracking.js';
import { transactionCommands } from './transactions.js';

export { CLUSTER_COMMANDS } from './cluster.js';
export { type CommandAnswer, InPieces, Several } from './connection-command.js';

export { withFields } from './field-sets.js';

export const CONNECTION_COMMANDS: ReadonlyMap<string, ConnectionCommand> = new Map(
  Object.entries({
    ...GREETING,
    ...CLUSTER_CLIENTS,
    ...CLIENT_SELF,
    ...CLIENT_OTHERS,
    ...FIELD_SETS,
    ...TRACKING,
    ...SUBSCRIPTIONS,
    ...transactionCommands((name) => CONNECTION_COMMANDS.get(name)),
  }),
);
