import { ACL_CASES } from './cases/acl.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value commands: ACL in the engine', ACL_CASES);
