import { FUNCTIONS_CASES } from './cases/function.js';
import { SCRIPTING_CASES } from './cases/scripting.js';
import { describeCases } from './describe-cases.js';

describeCases('kv: scripts', SCRIPTING_CASES);
describeCases('kv: functions', FUNCTIONS_CASES);
