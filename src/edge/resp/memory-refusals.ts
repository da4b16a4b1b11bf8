/** Errors when the budget has no room. */
import { ErrorReply } from '../../domain/kv/index.js';

const WHY = 'OOM requests of this database use too much memory, nothing was executed';

export const NO_MEMORY = new ErrorReply(WHY);
export const NO_MEMORY_FOR_STRANGERS = new ErrorReply('OOM connections that have not signed in use too much memory');
/** The answer to EXEC. */
export const NO_MEMORY_TO_EXECUTE = new ErrorReply(`EXECABORT Transaction discarded because of: ${WHY}`);
