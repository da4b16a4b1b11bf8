/** The C API of Lua 5.1 as the binary exports it, and its constants. */

export const LUA = { NIL: 0, BOOLEAN: 1, LIGHTUSERDATA: 2, NUMBER: 3, STRING: 4, TABLE: 5, FUNCTION: 6 } as const;
export const REGISTRY_INDEX = -10000;
export const GLOBALS_INDEX = -10002;
export const MULTIPLE_RESULTS = -1;

/** A pointer to a Lua state: the main one or a coroutine. */
export type State = number;

export interface LuaApi {
  readonly memory: WebAssembly.Memory;
  readonly __indirect_function_table: WebAssembly.Table;
  malloc(bytes: number): number;
  free(pointer: number): void;
  stackSave(): number;
  stackRestore(pointer: number): void;
  setThrew(threw: number, value: number): void;
  luaL_newstate(): State;
  luaopen_base(state: State): number;
  luaopen_table(state: State): number;
  luaopen_string(state: State): number;
  luaopen_math(state: State): number;
  lua_gettop(state: State): number;
  lua_settop(state: State, index: number): void;
  lua_remove(state: State, index: number): void;
  lua_insert(state: State, index: number): void;
  lua_replace(state: State, index: number): void;
  lua_pushvalue(state: State, index: number): void;
  lua_checkstack(state: State, slots: number): number;
  lua_type(state: State, index: number): number;
  lua_typename(state: State, type: number): number;
  lua_isnumber(state: State, index: number): number;
  lua_tonumber(state: State, index: number): number;
  lua_toboolean(state: State, index: number): number;
  lua_tolstring(state: State, index: number, lengthAt: number): number;
  lua_tocfunction(state: State, index: number): number;
  lua_topointer(state: State, index: number): number;
  lua_pushnil(state: State): void;
  lua_pushnumber(state: State, value: number): void;
  lua_pushboolean(state: State, value: number): void;
  lua_pushlstring(state: State, pointer: number, bytes: number): void;
  lua_pushlightuserdata(state: State, pointer: number): void;
  lua_pushcclosure(state: State, functionIndex: number, upvalues: number): void;
  lua_createtable(state: State, items: number, fields: number): void;
  lua_getfield(state: State, index: number, name: number): void;
  lua_setfield(state: State, index: number, name: number): void;
  lua_gettable(state: State, index: number): void;
  lua_rawget(state: State, index: number): void;
  lua_rawgeti(state: State, index: number, at: number): void;
  lua_rawset(state: State, index: number): void;
  lua_rawseti(state: State, index: number, at: number): void;
  lua_getmetatable(state: State, index: number): number;
  lua_setmetatable(state: State, index: number): number;
  lua_next(state: State, index: number): number;
  lua_concat(state: State, count: number): void;
  lua_call(state: State, args: number, results: number): void;
  lua_pcall(state: State, args: number, results: number, handlerAt: number): number;
  lua_error(state: State): number;
  lua_newthread(state: State): State;
  lua_resume(state: State, args: number): number;
  lua_yield(state: State, results: number): number;
  lua_xmove(from: State, to: State, count: number): void;
  lua_sethook(state: State, functionIndex: number, mask: number, count: number): number;
  lua_getstack(state: State, level: number, debugAt: number): number;
  lua_getinfo(state: State, fieldsAt: number, debugAt: number): number;
  luaL_ref(state: State, tableAt: number): number;
  luaL_unref(state: State, tableAt: number, ref: number): void;
  luaL_loadbuffer(state: State, source: number, bytes: number, name: number): number;
  luaL_where(state: State, level: number): void;
  luaL_argerror(state: State, argument: number, message: number): number;
  luaL_checklstring(state: State, argument: number, lengthAt: number): number;
  luaL_checknumber(state: State, argument: number): number;
  luaL_optnumber(state: State, argument: number, fallback: number): number;
  luaL_checktype(state: State, argument: number, type: number): void;
}
