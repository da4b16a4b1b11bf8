/** What a client hears when there is no room for what it asks to be held. */
import { ErrorReply } from '../../domain/kv/index.js';

const WHY = 'OOM too much is held by requests of this database, nothing was executed';

export const NO_MEMORY = new ErrorReply(WHY);
export const NO_MEMORY_FOR_STRANGERS = new ErrorReply('OOM too much is held by connections that have not signed in');
/** Instead of EXEC. */
export const NO_MEMORY_TO_EXECUTE = new ErrorReply(`EXECABORT Transaction discarded because of: ${WHY}`);
