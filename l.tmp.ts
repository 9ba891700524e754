import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { tools, createToolFilter, createToolList, defaultToolFilterSettings } from "./src/mcp/tool-list/index.ts";
import { allScopes } from "./tools/contract/index.ts";
const list=createToolList(tools);
for (const mode of ["core","lean","all","search"] as const){
 const l=list.list({scopes:new Set(allScopes),filter:createToolFilter(tools,{...defaultToolFilterSettings,mode})});
 console.log(mode,l.length,l.reduce((s,{name,description,inputSchema})=>s+countTokens(JSON.stringify({name,description,inputSchema})),0),Buffer.byteLength(JSON.stringify({tools:l})), l.slice(0,3).map(({name,description,inputSchema})=>countTokens(JSON.stringify({name,description,inputSchema}))).join());
}
