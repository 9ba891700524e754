import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { tools } from "./src/mcp/tool-list/definitions.ts";
for (const t of tools) { if(t.tier==="extended") continue; const {name,description,inputSchema}=t.definition; console.log(countTokens(JSON.stringify({name,description,inputSchema})), name,"|", description);
 const d=(s:any,p:string)=>{ for(const [k,v] of Object.entries<any>(s.properties??{})){ if(v.description) console.log("        ",p+k,":",v.description, v.enum?JSON.stringify(v.enum):""); else console.log("        ",p+k, v.type, v.enum?JSON.stringify(v.enum):""); d(v,p+k+"."); if(v.items) d(v.items,p+k+"[]."); } };
 d(inputSchema,""); }
